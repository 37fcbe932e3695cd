"""From a file's text (YAML or JSON) to a run spec.

YAML is read as YAML 1.2 does: `on`, `yes`, dates and sexagesimals are text. Tags, merge keys and
duplicate keys are refused, nesting and aliases are bounded before anything is built.
"""

import re
from collections.abc import Hashable
from typing import Any

import yaml

from verifier.framing import one_line
from verifier.limits import MAX_SPEC_BYTES
from verifier.parsing import UNSTORABLE, Parsed, parse_untrusted, unstorable_name
from verifier.spec.models import RunSpec
from verifier.spec.parse import parse_run_spec
from verifier.spec.plain import MAX_DEPTH, MAX_VALUES
from verifier.spec.problems import WHOLE_DOCUMENT, SpecError, SpecProblem

_TAG = "tag:yaml.org,2002:"
_BASE: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Refused(ValueError):
    """The text breaks one of our rules; its words are for people."""


class _Loader(_BASE):  # type: ignore[misc, valid-type]
    """YAML's core schema: no merge keys, no dates, no `yes` and `on`, no key twice."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys: set[Hashable] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise _Refused(f"line {_line(key_node)}: expected keys that are text")
            if key in keys:
                shown = one_line(str(key), 80)
                raise _Refused(f"line {_line(key_node)}: the key {shown!r} occurs twice")
            keys.add(key)
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)
        return mapping


for _tag, _pattern, _first in (
    ("null", r"(?:~|null|Null|NULL|)", ["~", "n", "N", ""]),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]{0,99})", list("-+0123456789")),
    ("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]{1,4})?"
              r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", list("-+.0123456789")),
):  # fmt: skip
    _Loader.add_implicit_resolver(_TAG + _tag, re.compile(f"(?:{_pattern})\\Z"), _first)


def load_spec_text(text: str) -> RunSpec:
    """The text of a spec file as a spec. Raises `SpecError`, also for text that is no YAML."""
    return parse_run_spec(_plain_data(text))


def _plain_data(text: str) -> object:
    size = len(text) if len(text) > MAX_SPEC_BYTES else len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_SPEC_BYTES:
        raise _whole(f"expected at most {MAX_SPEC_BYTES:,} bytes, got {size:,}")
    found = UNSTORABLE.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        raise _whole(f"line {line}: contains {unstorable_name(found[0])}")
    if text.lstrip().startswith("{"):
        parsed = parse_untrusted(text, MAX_SPEC_BYTES, MAX_DEPTH)
        if isinstance(parsed, Parsed):
            return parsed.value
    return _yaml(text)


def _yaml(text: str) -> object:
    try:
        _refuse_excess(text)
        return yaml.load(text, Loader=_Loader)  # noqa: S506 — a SafeLoader, narrowed further
    except _Refused as refusal:
        raise _whole(str(refusal)) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}: " if mark else ""
        raise _whole(f"not YAML: {where}{one_line(str(error.problem), 200)}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _whole(f"not YAML: {one_line(str(error), 200)}") from None


def _refuse_excess(text: str) -> None:
    """Reads the parser's events only, without building anything: depth, number, tags."""
    depth = values = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.NodeEvent):
            values += 1
            tag = getattr(event, "tag", None)
            if tag not in (None, "!", _TAG + "str"):
                raise _Refused(f"line {_line(event)}: the tag {one_line(tag, 80)} is not supported")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise _Refused(f"nested deeper than {MAX_DEPTH} levels")
        if values > MAX_VALUES:
            raise _Refused(f"expected at most {MAX_VALUES:,} values in all")


def _line(place: yaml.Node | yaml.Event) -> int:
    return place.start_mark.line + 1 if place.start_mark else 0


def _whole(message: str) -> SpecError:
    return SpecError([SpecProblem(WHOLE_DOCUMENT, message)])
