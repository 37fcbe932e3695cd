"""The clock of production sweeps by itself: no message, no worker, no file."""

from celery.beat import ScheduleEntry

from swarmui.celery import app
from swarmui.tasks.beat import SweepingScheduler


def test_the_settings_name_the_scheduler_that_sweeps():
    assert app.conf.beat_scheduler == "swarmui.tasks.beat:SweepingScheduler"
    entries = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert entries == {"swarmui.sweep"}


def test_what_is_due_runs_here_and_nothing_is_sent(transactional_db, monkeypatch):
    ran, sent = [], []
    monkeypatch.setattr("swarmui.execution.sweep.tick", lambda: ran.append(1))
    monkeypatch.setattr(app, "send_task", lambda *args, **kwargs: sent.append(args))
    scheduler(monkeypatch).tick()
    assert (ran, sent) == ([1], [])


def test_a_sweep_that_fails_is_due_again(transactional_db, monkeypatch):
    ran = []

    def failing():
        ran.append(1)
        raise RuntimeError("the database is away")

    monkeypatch.setattr("swarmui.execution.sweep.tick", failing)
    beat = scheduler(monkeypatch)
    assert beat.tick() <= 1
    assert ran == [1]
    assert beat.schedule["sweep"].is_due().next <= 1


def scheduler(monkeypatch):
    app.autodiscover_tasks(["swarmui"], force=True)
    beat = SweepingScheduler(app, lazy=False)
    entry = beat.schedule["sweep"]
    long_ago = app.now().replace(year=app.now().year - 1)
    beat.schedule["sweep"] = ScheduleEntry(
        name="sweep", task=entry.task, schedule=entry.schedule, last_run_at=long_ago, app=app
    )
    return beat
