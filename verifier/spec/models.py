"""The run spec: what an operator asks for, as data. Every bound of it is here.

Source: interface contract "Run spec", domain §1 (workers, branches), §2 (limits), §4 (gates).
"""

import re
from decimal import Decimal
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Strict,
    StringConstraints,
    Tag,
    model_validator,
)

from verifier.characters import has_content
from verifier.lifecycle import WorkerKind
from verifier.limits import (
    DEFAULT_CONTRACT_RETRIES,
    MAX_BRANCHES,
    MAX_CONTRACT_RETRIES,
    MAX_TEXT_IN_SPEC,
    MIN_TOKENS_TO_START,
    WALL_CLOCK_S,
)
from verifier.scorers import MAX_SCORERS, ExpectedOutput, ScorerSpec, kind_tag

PROVIDERS = ("recorded", "openai", "anthropic", "google", "ollama")
MAX_LABEL_CHARS = 80  # of a role, topic or subtopic: one cell of a table
MAX_MODEL_CHARS = 300
MAX_PATH_CHARS = 1_000
MAX_ARGUMENTS = 64
MAX_ARGV_CHARS = 8_192  # in all
MAX_ENV_NAMES = 32
MAX_USD = 100_000
MAX_TOKENS = 1_000_000_000

_RESERVED_NAMES = frozenset({"DATABASE_URL", "REDIS_URL", "SECRET_KEY", "PGPASSWORD"})
_RESERVED_BEGINNINGS = ("SWARMUI_", "DJANGO_", "CELERY_")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


class Part(BaseModel):
    """Base of all parts: unknown keys and wrong types are faults, nothing changes afterwards."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)


def _with_content(text: str) -> str:
    if not has_content(text):
        raise ValueError("expected text that can be seen, got only blanks")
    return text


def _single_line(text: str) -> str:
    if len(text.splitlines()) > 1 or text != text.rstrip("\r\n"):
        raise ValueError("expected one line, got several")
    return text


def _known_model(name: str) -> str:
    provider, colon, rest = name.partition(":")
    if provider in PROVIDERS and colon and has_content(rest):
        return name
    known = ", ".join(f"{provider}:" for provider in PROVIDERS)
    raise ValueError(f"expected a name that begins with one of {known}, or a base_url with it")


def _plain_address(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError("expected http(s)://host[:port]/path") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError("expected http(s)://host[:port]/path")
    if not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError("expected plain ASCII without blanks")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("user names, keys, queries and fragments do not belong into an address")
    return url


def is_reserved(name: str) -> bool:
    """Whether an environment variable is the service's own: its keys would leave by a worker's
    output, so no program is ever handed it."""
    return name in _RESERVED_NAMES or name.startswith(_RESERVED_BEGINNINGS)


def _env_name(name: str) -> str:
    if not _ENV_NAME.fullmatch(name):
        raise ValueError("expected the name of an environment variable: letters, digits and _")
    if is_reserved(name):
        raise ValueError("belongs to the service and is never handed on")
    return name


def _argv(arguments: tuple[str, ...]) -> tuple[str, ...]:
    if not has_content(arguments[0]):
        raise ValueError("expected a program's name as the first entry, got a blank one")
    length = sum(map(len, arguments))
    if length > MAX_ARGV_CHARS:
        raise ValueError(f"expected at most {MAX_ARGV_CHARS:,} characters in all, got {length:,}")
    return arguments


def _once_each(names: tuple[str, ...]) -> tuple[str, ...]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"listed twice: {', '.join(twice)}")
    return names


# Lists arrive as lists, be it from JSON, YAML or the database; only that is lenient about them.
AsTuple = Strict(False)
Prose = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_TEXT_IN_SPEC), AfterValidator(_with_content)
]
Label = Annotated[str, StringConstraints(max_length=MAX_LABEL_CHARS), AfterValidator(_single_line)]
PathText = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_PATH_CHARS), AfterValidator(_with_content)
]
ModelName = Annotated[
    str,
    StringConstraints(max_length=MAX_MODEL_CHARS),
    AfterValidator(_single_line),
    AfterValidator(_known_model),
]
EnvName = Annotated[str, AfterValidator(_env_name)]
ToolGroup = Literal["filesystem", "shell"]
WorkspaceMode = Literal["copy", "worktree", "in_place"]


class ModelSpec(Part):
    """A model by name; with a `base_url` any endpoint that speaks OpenAI's protocol."""

    name: Annotated[
        str,
        StringConstraints(min_length=1, max_length=MAX_MODEL_CHARS),
        AfterValidator(_single_line),
        AfterValidator(_with_content),
    ]
    base_url: (
        Annotated[str, StringConstraints(max_length=2_000), AfterValidator(_plain_address)] | None
    ) = None

    @model_validator(mode="after")
    def _has_a_provider(self) -> "ModelSpec":
        if self.base_url is None:
            _known_model(self.name)
        return self


def _model_tag(value: object) -> str:
    return "=name" if isinstance(value, str) else "=object"


ModelRef = Annotated[
    Annotated[ModelName, Tag("=name")] | Annotated[ModelSpec, Tag("=object")],
    Discriminator(_model_tag),
]


class WorkspaceSpec(Part):
    """The files a run works on: a copy of a folder, a git worktree of it, or the folder itself."""

    path: PathText
    mode: WorkspaceMode = "copy"


class BudgetSpec(Part):
    """The most a run may spend. None: no cap of this kind."""

    usd: Annotated[float, Field(ge=0, le=MAX_USD, allow_inf_nan=False)] | None = None
    tokens: Annotated[int, Field(ge=1, le=MAX_TOKENS)] | None = None

    @property
    def usd_micro(self) -> int | None:
        """The cap in millionths of a dollar, the unit money is counted in."""
        return None if self.usd is None else int(Decimal(str(self.usd)) * 1_000_000)


class LimitsSpec(Part):
    """Seconds of wall clock and tokens; None: the level's default."""

    wall_clock_s: Annotated[int, Field(ge=1, le=WALL_CLOCK_S[0])] | None = None
    tokens: Annotated[int, Field(ge=MIN_TOKENS_TO_START, le=MAX_TOKENS)] | None = None


class ModelWorker(Part):
    """An agent loop on a model; without one of its own it uses the run's."""

    kind: Literal["model"] = "model"
    model: ModelRef | None = None


class CommandWorker(Part):
    """A program: the brief on its stdin, the deliverable on its stdout. `env` names the variables
    of the server's environment that it may see."""

    kind: Literal["command"] = "command"
    argv: Annotated[
        tuple[str, ...],
        AsTuple,
        Field(min_length=1, max_length=MAX_ARGUMENTS),
        AfterValidator(_argv),
    ]
    isolation: Literal["sandbox", "host"] = "sandbox"
    env: Annotated[
        tuple[EnvName, ...], AsTuple, Field(max_length=MAX_ENV_NAMES), AfterValidator(_once_each)
    ] = ()


WORKER_KINDS = tuple(str(kind) for kind in WorkerKind)
Worker = Annotated[
    Annotated[ModelWorker, Tag("=model")] | Annotated[CommandWorker, Tag("=command")],
    Discriminator(kind_tag),
]


class BranchSpec(Part):
    """One branch of the delegation. Its identity is its index, never its text."""

    role: Annotated[
        str,
        StringConstraints(min_length=1, max_length=MAX_LABEL_CHARS),
        AfterValidator(_single_line),
        AfterValidator(_with_content),
    ]
    topic: Label = ""
    subtopic: Label = ""
    task_brief: Prose
    expected_output: ExpectedOutput = ExpectedOutput()
    tools: Annotated[tuple[ToolGroup, ...], AsTuple, AfterValidator(_once_each)] = ("filesystem",)
    scorers: Annotated[tuple[ScorerSpec, ...], AsTuple, Field(max_length=MAX_SCORERS)] = ()
    worker: Worker = ModelWorker()
    limits: LimitsSpec | None = None


class VerifierSpec(Part):
    """The goal verifier of the delegation. Not available: it can only be off."""

    enabled: bool = Field(default=False, json_schema_extra={"const": False})


class ClaimsSpec(Part):
    """The verification of claims. Not available: it can only be off."""

    extract: bool = Field(default=False, json_schema_extra={"const": False})


class RunSpec(Part):
    """One run. Without branches the root agent works alone; with them the goal is fanned out."""

    goal: Prose
    workspace: WorkspaceSpec | None = None
    model: ModelRef | None = None
    economy_model: ModelRef | None = None
    backup_models: dict[Label, ModelRef] = {}
    contract_retries: Annotated[int, Field(ge=0, le=MAX_CONTRACT_RETRIES)] = (
        DEFAULT_CONTRACT_RETRIES
    )
    budget: BudgetSpec = BudgetSpec()
    attended: bool = True
    limits: LimitsSpec | None = None
    branches: Annotated[
        tuple[BranchSpec, ...], AsTuple, Field(min_length=1, max_length=MAX_BRANCHES)
    ] = ()
    verifier: VerifierSpec = VerifierSpec()
    claims: ClaimsSpec = ClaimsSpec()

    def model_for(self, branch: BranchSpec) -> ModelRef | None:
        """The model a branch's worker runs on; None for a program."""
        if not isinstance(branch.worker, ModelWorker):
            return None
        return branch.worker.model or self.model
