"""The stores that jobs are killed in, and what has to be true of them behind every kill."""

from __future__ import annotations

import hashlib
import shutil
import traceback
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from tests.pipelines.store.forked import CHECKOUT
from tests.pipelines.store.looking import View, view
from tests.pipelines.store.operations import without_process
from tests.pipelines.stores import EVERYTHING, dump_bytes, leftovers

from zscope.parsers.options import ReadOptions
from zscope.pipelines.ingest import ingest
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import StoreError
from zscope.pipelines.store.file_checks import check_store
from zscope.pipelines.store.folder import existing_store
from zscope.pipelines.store.maintenance import compact, expire
from zscope.pipelines.store.remove import remove_load
from zscope.pipelines.store.transaction import changing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

AT_ONCE = Settings(lock_wait_s=0)
"""Whoever comes behind a killed writer does not find the store locked."""
ONE_BY_ONE = replace(EVERYTHING, settings=AT_ONCE, read_options=ReadOptions(jobs=1))
"""With several threads the order of what is done to files would be another one each time."""
SECOND_DAY = date(2026, 3, 3)
REPORT = CHECKOUT / "sample-data" / "reports" / "netstat.SYSA.2026-03-02.txt"


class Scene:
    """A store before a job, again and again at the same place: the catalogue names its files in full.

    The jobs are `first` and `second`, loads of a dump into a new store and into one that is there;
    `together`, the load of three files with one commit; `grown`, the load of a report of which the store has
    the beginning; `compact`, `remove` and `expire`.
    """

    def __init__(self, place: Path, job: str) -> None:
        self.store, self._before = place / "store", place / "before"
        self.job = job
        self._small, self._dump = place / "small.smf", place / "dump.smf"
        self._small.write_bytes(dump_bytes(24, 2, seed=9, mix={"tcp-init": 1}))
        self._dump.write_bytes(dump_bytes(40, 1, mix={"tcp-init": 1}))
        self._report = place / REPORT.name
        self._parts = [place / f"part-{number}.smf" for number in range(3)]
        for number, path in enumerate(self._parts):
            path.write_bytes(dump_bytes(12, 1, seed=number, mix={"tcp-init": 1}))

    def prepare(self) -> None:
        """Load what the job finds."""
        if self.job == "first":
            return
        ingest(self.store, [self._small], EVERYTHING)
        if self.job == "grown":
            whole = REPORT.read_bytes()
            self._report.write_bytes(whole[: len(whole) // 2])
            ingest(self.store, [self._report], EVERYTHING)
            self._report.write_bytes(whole)
        elif self.job not in {"second", "together"}:
            ingest(self.store, [self._dump], EVERYTHING)
        if self.job == "remove":  # of files that hold rows of others, too
            self._change(compact)
        shutil.copytree(self.store, self._before)

    def restart(self) -> None:
        """Back to the beginning."""
        shutil.rmtree(self.store, ignore_errors=True)
        if self._before.exists():
            shutil.copytree(self._before, self.store)

    def run(self) -> None:
        """Do the job."""
        if self.job in {"first", "second"}:
            ingest(self.store, [self._dump], ONE_BY_ONE)
        elif self.job == "together":
            ingest(self.store, self._parts, ONE_BY_ONE)
        elif self.job == "grown":
            ingest(self.store, [self._report], ONE_BY_ONE)
        elif self.job == "compact":
            self._change(compact)
        elif self.job == "remove":
            self._change(lambda folder, state: remove_load(folder, state, 1))
        else:
            self._change(lambda folder, state: expire(folder, state, SECOND_DAY))

    def _change(self, change: Callable[..., object]) -> None:
        folder = existing_store(self.store)
        with changing(folder, AT_ONCE, lambda _: None) as state:
            change(folder, state)

    def left_behind(self) -> frozenset[tuple[str, str]]:
        """All that is there, but for what differs from run to run."""
        found = set()
        for path in self.store.rglob("*"):
            content = b"folder"
            if path.is_file():
                content = path.read_bytes() if path.name == "zscope.duckdb" else path.read_bytes()[:1]
            name = without_process(str(path.relative_to(self.store)))
            found.add((name, hashlib.sha256(content).hexdigest()))
        return frozenset(found)

    def run_again(self, view_before: View) -> None:
        """What one does after the writer was killed: the same again."""
        try:
            self.run()
        except StoreError:
            if self.job != "remove" or view_before.reader == view(self.store).reader:
                raise

    def faults(self, before: View, after: View) -> list[str]:
        """What is wrong with the store a writer was killed in, and behind the next one."""
        found = []
        now = view(self.store)
        whole = after if now.commits > before.commits else before
        if now.reader != whole.reader:
            found.append(f"a reader sees {now.reader} behind {now.commits} commits")
        if now.plain not in (before.plain, after.plain):
            found.append(f"the catalogue shows {now.plain}")
        try:
            self.run_again(before)
            check_store(existing_store(self.store))
        except Exception:  # noqa: BLE001 - whatever it is, it is the fault looked for
            return [*found, f"the next one failed: {traceback.format_exc(limit=-3)}"]
        then = view(self.store)
        if then.reader != after.reader:
            found.append(f"behind the next one a reader sees {then.reader}")
        if then.plain != after.plain:
            found.append(f"behind the next one the catalogue shows {then.plain}")
        if left := leftovers(self.store):
            found.append(f"left behind: {left}")
        return found
