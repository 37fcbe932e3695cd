"""What is checked in the world before a run is accepted."""

import pytest

from swarmui.models import Run
from verifier.spec import SpecError

BRANCH = {
    "role": "a",
    "task_brief": "b",
    "worker": {"kind": "command", "argv": ["python3", "-c", ""]},
}


def refused(launch, path, message, **spec):
    with pytest.raises(SpecError) as error:
        launch(branches=[BRANCH], **spec)
    assert [problem.path for problem in error.value.problems] == [path]
    assert message in error.value.problems[0].message
    assert not Run.objects.exists()


def test_a_missing_workspace(launch):
    refused(launch, "workspace.path", "does not exist", workspace={"path": "nowhere"})


@pytest.mark.parametrize("mode", ["copy", "in_place"])
@pytest.mark.parametrize("path", [".", "home", "home/runs"])
def test_a_workspace_that_holds_the_installations_own_state(launch, tmp_path, path, mode):
    (tmp_path / "home" / "runs").mkdir(parents=True)
    refused(launch, "workspace.path", "own state", workspace={"path": path, "mode": mode})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "model.yaml"),
        ("format: 9", "format"),
        ("[", "not plain YAML"),
    ],
)
def test_a_recording_that_cannot_be_played(launch, tmp_path, content, message):
    if content is not None:
        (tmp_path / "model.yaml").write_text(content)
    refused(launch, "model", message, model="recorded:model.yaml")


def test_a_recording_outside_the_folder(launch):
    refused(launch, "model", "", model="recorded:../../etc/passwd")


def test_both_problems_are_told_at_once(launch):
    with pytest.raises(SpecError) as error:
        launch(branches=[BRANCH], workspace={"path": "nowhere"}, model="recorded:nothing.yaml")
    assert [p.path for p in error.value.problems] == ["workspace.path", "model"]
