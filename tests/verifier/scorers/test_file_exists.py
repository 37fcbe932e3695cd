"""`file_exists`: the workspace answers; a hostile path is a failed gate, never an error."""

import pytest
from pydantic import ValidationError

from verifier.ports import PathFact
from verifier.scorers import ScorerOutcome, run_scorers
from verifier.scorers.file_exists import FileExists

OUTSIDE = PathFact(exists=False, refusal="outside the workspace")
EXISTING = {
    "notes.md": PathFact(exists=True, kind="file", size=12),
    "empty.txt": PathFact(exists=True, kind="file", size=0),
    "docs": PathFact(exists=True, kind="dir"),
    "a/b/c.txt": PathFact(exists=True, kind="file", size=1),
    "with space.md": PathFact(exists=True, kind="file", size=1),
    "ü/日本.md": PathFact(exists=True, kind="file", size=1),
    "-rf": PathFact(exists=True, kind="file", size=1),
    "*": PathFact(exists=True, kind="file", size=1),  # a name, not a pattern
    "pipe": PathFact(exists=True, kind="other"),
    "a\nb": PathFact(exists=True, kind="file", size=1),
    "huge.bin": PathFact(exists=True, kind="file", size=50_000_000),
}
REFUSED = [
    "/etc/passwd",
    "../secret",
    "a/../../secret",
    "..",
    "link-out",  # a symlink that leads out
    "dir-link-out/passwd",
    "a\x00b",
    "\x00",
    "~/x",
    "/proc/self/environ",
    "loop",  # a symlink to itself
    "C:\\x",
]
ABSENT = ["missing.md", "NOTES.MD", "notes.md.bak", "notes.md/", "n\u200botes.md", " notes.md", "."]


@pytest.mark.parametrize("path", EXISTING, ids=ascii)
def test_a_path_that_exists_passes(context, path):
    finding = FileExists(path=path).score(context(facts=EXISTING))
    assert finding.outcome is ScorerOutcome.PASSED
    assert finding.observed is not None
    assert finding.observed.startswith(EXISTING[path].kind or "")


@pytest.mark.parametrize("path", ABSENT, ids=ascii)
def test_a_missing_path_fails_and_can_be_mended(context, path):
    finding = FileExists(path=path).score(context(facts=EXISTING))
    assert (finding.outcome, finding.retryable) == (ScorerOutcome.FAILED, True)
    assert "does not exist" in (finding.reason or "")


@pytest.mark.parametrize("path", REFUSED, ids=ascii)
def test_a_path_the_workspace_refuses_fails_and_is_not_tried_again(context, path):
    report = run_scorers([FileExists(path=path)], context(facts=dict.fromkeys(REFUSED, OUTSIDE)))
    (result,) = report.results
    assert (result.outcome, result.retryable, result.broke) == (ScorerOutcome.FAILED, False, False)
    assert result.reason is not None
    assert result.reason.endswith("outside the workspace")
    assert "\x00" not in result.reason


@pytest.mark.parametrize(
    "options", [{}, {"path": ""}, {"path": 3}, {"path": "x" * 1_001}, {"path": "\ud800"}]
)
def test_a_wrong_option_is_refused(options):
    with pytest.raises(ValidationError):
        FileExists(**options)
