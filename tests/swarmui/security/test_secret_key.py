"""The install's own key: complete or not there, and one for all who start at once."""

import threading
from pathlib import Path

import pytest

from swarmui import environment
from swarmui.environment import secret_key_in


def test_the_key_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    key = secret_key_in(tmp_path)
    assert len(key) >= 50
    assert secret_key_in(tmp_path) == key
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_a_start_that_was_killed_while_it_made_the_key_leaves_no_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def killed(size: int) -> str:
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(environment.secrets, "token_urlsafe", killed)
        secret_key_in(tmp_path)
    assert len(secret_key_in(tmp_path)) >= 50


def test_of_several_first_starts_at_once_all_get_the_same_key(tmp_path: Path) -> None:
    keys: list[str] = []
    at_once = threading.Barrier(8)

    def start() -> None:
        at_once.wait()
        keys.append(secret_key_in(tmp_path))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 8
    assert len(set(keys)) == 1
