"""Test files that use an expensive fixture run in one worker; other files run in the next idle worker."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from tests.scheduling import COMPUTED, ComputedOnce, fixture_of

CHECKOUT = Path(__file__).resolve().parents[2]


class Worker:
    """A stand-in for a worker node of pytest-xdist that records the indexes of the tests sent to it."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.shutting_down = False
        self.sent: list[int] = []

    def send_runtest_some(self, indexes: list[int]) -> None:
        self.sent += indexes

    def shutdown(self) -> None:
        self.shutting_down = True


def run(folder: Path, tests: list[str]) -> list[list[str]]:
    """Schedule tests on two workers that take turns; return the files of the tests of each worker."""
    option = SimpleNamespace(loadscopereorder=False)
    config = SimpleNamespace(rootpath=folder, option=option, getvalue=lambda _: ["popen", "popen"])
    scheduler, workers = ComputedOnce(config), [Worker("gw0"), Worker("gw1")]
    for worker in workers:
        scheduler.add_node(worker)
        scheduler.add_node_collection(worker, tests)
    scheduler.schedule()
    for place in range(len(tests)):
        for worker in workers:
            if place < len(worker.sent):
                scheduler.mark_test_complete(worker, worker.sent[place])
    assert scheduler.tests_finished
    assert sorted(number for worker in workers for number in worker.sent) == list(range(len(tests)))
    return [[tests[number].partition("::")[0] for number in worker.sent] for worker in workers]


def test_files_with_an_expensive_fixture_run_in_one_worker(tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d", "e", "f"):
        (tmp_path / f"{name}.py").write_text(COMPUTED[0] if name in "ae" else "", encoding="utf-8")
    tests = [f"{name}.py::test_{number}" for name in "abcdef" for number in range(3)]
    first, second = run(tmp_path, tests)
    assert list(dict.fromkeys(first)) == ["a.py", "e.py", "d.py"]
    assert list(dict.fromkeys(second)) == ["b.py", "c.py", "f.py"]


def test_the_expensive_fixtures_exist() -> None:
    conftest = (CHECKOUT / "tests" / "pipelines" / "conftest.py").read_text(encoding="utf-8")
    for name in COMPUTED:
        assert f"def {name}(" in conftest
    assert fixture_of(CHECKOUT / "tests/pipelines/metrics/test_metric_cases.py") in COMPUTED
    assert not fixture_of(Path(__file__))
