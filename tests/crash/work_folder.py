"""A folder with a store and all that commands change besides, and what others see of it."""

from __future__ import annotations

import contextlib
import io
import os
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow.parquet as pq
from tests.pipelines.iceberg.reading import read_by_catalogue, read_by_hint
from tests.pipelines.store.looking import NOTHING, seen_by
from tests.pipelines.stores import dump_bytes, leftovers, plain_client

from zscope.app.cli.main import program
from zscope.pipelines.store import StoreError, open_reader
from zscope.pipelines.store.folder import Folder, is_store

if TYPE_CHECKING:
    from collections.abc import Callable

AN_HOUR = 3600
_WITH_TIMES = ("input_issue", "issue")
"""Tables with the time of the load: of these only the number of rows is compared."""
Seen = dict[str, Any]
"""What others see, as JSON can say it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    messages: str


@dataclass(frozen=True, slots=True)
class WorkFolder:
    """The folder; commands run in it."""

    path: Path

    @property
    def store(self) -> Path:
        """The store."""
        return self.path / "store"

    @property
    def published(self) -> Path:
        """The published tables."""
        return self.path / "store-iceberg"

    def add(self, name: str, content: bytes) -> None:
        """Add a file that was written an hour ago."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        then = time.time() - AN_HOUR
        os.utime(file, (then, then))

    def add_dumps(self, *names: str) -> None:
        """Add small dumps of two days with different records."""
        for number, name in enumerate(names):
            self.add(name, dump_bytes(24 + number, 2, seed=9 + number, mix={"tcp-init": 1}))

    def run(self, *arguments: str) -> Ended:
        """Run a command of zscope in this process."""
        written = io.BytesIO()
        os.chdir(self.path)
        with (
            io.TextIOWrapper(written, encoding="utf-8", write_through=True) as messages,
            contextlib.redirect_stdout(messages),
            contextlib.redirect_stderr(messages),
        ):
            try:
                program.main(list(arguments), prog_name="zscope")
            except SystemExit as end:
                return Ended(int(end.code or 0), written.getvalue().decode())
        raise AssertionError("a command ends with an exit code")

    def done(self, *arguments: str) -> None:
        """Run a command that is successful."""
        ended = self.run(*arguments)
        assert ended.code == 0, ended

    def seen(self) -> Seen:
        """Return what others see."""
        folder = Folder(self.store)
        catalogue = self.published / "catalog.db"  # which a client of Iceberg would create
        has_rows = is_store(self.store) and any(folder.commits.glob("[0-9]*.json"))
        return {
            "reader": self._by_reader() if has_rows else NOTHING,
            "catalogue": self._by_catalogue() if folder.catalogue.exists() else NOTHING,
            "public files": _rows_of_public_files(folder),
            "tables by hint": self._published(read_by_hint),
            "tables by catalogue": self._published(read_by_catalogue) if catalogue.exists() else {},
            "files": self._files(),
        }

    def _by_reader(self) -> Any:  # noqa: ANN401 - what JSON can say
        try:
            with open_reader(self.store) as connection:
                return seen_by(connection)
        except (StoreError, duckdb.Error) as error:
            return str(error).partition("\n")[0]

    def _by_catalogue(self) -> Any:  # noqa: ANN401 - what JSON can say
        try:
            with plain_client(self.store) as connection:
                return seen_by(connection)
        except duckdb.Error as error:
            return str(error).partition("\n")[0]

    def _published(self, read: Callable[[Path], dict[str, tuple[int, int]]]) -> dict[str, str]:
        """Return what readers see of each published table that has rows."""
        try:
            found = read(self.published) if self.published.exists() else {}
        except Exception as error:  # noqa: BLE001 - a table that cannot be read is any kind of error
            return {"error": f"{type(error).__name__}: {error}"[:300]}
        return {
            table: str(content[0] if table in _WITH_TIMES else content)
            for table, content in sorted(found.items())
            if content[0]
        }

    def _files(self) -> dict[str, Any]:
        """Return the moved and exported files, the runs, and the reports about refused files."""
        found: dict[str, Any] = {}
        for name in ("new", "loaded"):
            place = self.path / name
            files = (path.relative_to(place) for path in place.rglob("*") if path.is_file())
            found[name] = sorted(map(str, files))
        for path in (self.path / "csv").glob("*"):
            found[path.name] = sorted(path.read_text().splitlines())
        for path in (self.path / "dated").glob("*.duckdb"):
            with duckdb.connect(str(path), read_only=True) as connection:
                found[path.name] = len(connection.sql("SELECT * FROM smf119_tcp_init").fetchall())
        runs = Folder(self.store).runs
        found["runs"] = runs.read_text() if runs.exists() else ""
        reports = Folder(self.store).quarantine.glob("[!.]*.json")
        found["refused"] = sorted({path.stem.partition("-")[2] for path in reports})
        return found

    def left(self) -> list[str]:
        """Return what a command left that is part of nothing."""
        ours = ("nightly/", "summaries/")
        in_store = [name for name in leftovers(self.store) if not name.startswith(ours)]
        known = {".lock", ".shown.json", ".damaged"}
        hidden = [
            str(path.relative_to(self.path)) for path in self.path.rglob(".*") if path.name not in known
        ]
        unfinished = self.store / "nightly" / "unfinished.json"
        return sorted({*in_store, *hidden, *([unfinished.name] if unfinished.exists() else [])})


def _rows_of_public_files(folder: Folder) -> dict[str, int | str]:
    """Return the number of rows of each table and month."""
    found: Counter[str] = Counter()
    for path in folder.tables.glob("*/month=*/*.parquet"):
        month = path.parent.relative_to(folder.tables).as_posix()
        try:
            found[month] += pq.read_metadata(path).num_rows
        except (ValueError, OSError):  # the mark in the place of a damaged file
            return {month: "damaged"}
    return dict(found)
