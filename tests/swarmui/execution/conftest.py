"""Runs executed in the test's own process: wake-ups are collected and served one by one."""

from collections import deque

import pytest


def tasks():
    """Loaded late: this file is read before Django is set up."""
    from swarmui import tasks

    return tasks


class Broker:
    """Holds wake-ups until they are served; can lose, double and turn them round."""

    def __init__(self):
        self.queue = deque()
        self.away = False

    def poke(self, name, argument):
        if not self.away:
            self.queue.append((name, argument))
        return not self.away

    def serve_one(self):
        name, argument = self.queue.popleft()
        getattr(tasks(), name)(str(argument))

    def serve_all(self):
        while self.queue:
            self.serve_one()


@pytest.fixture
def broker(transactional_db, monkeypatch, settings, tmp_path):
    from swarmui import dispatch

    settings.SWARMUI_HOME = tmp_path / "home"
    settings.RECORDED_DELAY_SCALE = 0
    broker = Broker()
    monkeypatch.setattr(dispatch, "poke", broker.poke)
    monkeypatch.setattr(dispatch, "waiting_messages", lambda: len(broker.queue))
    dispatch.worker_is_here.set()
    yield broker
    dispatch.worker_is_here.clear()


@pytest.fixture
def launch(broker, tmp_path):
    """Starts a run from a plain dict; relative paths begin in `tmp_path`."""

    from swarmui.execution.launch import launch_run
    from verifier.spec import parse_run_spec

    def start(**spec):
        spec.setdefault("goal", "Get it done")
        return launch_run(parse_run_spec(spec), origin="test", roots=None, cwd=tmp_path).run

    return start
