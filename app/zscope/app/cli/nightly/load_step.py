"""The steps `load` and `files`: load new files, and move or delete those that are in the store."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import ExitCode, describe
from zscope.app.cli.files_put_away import move_file, why_it_stays
from zscope.app.cli.input_options import ISSUES_SHOWN, exit_code_for, input_errors, progress
from zscope.app.cli.loading import describe_outcome, return_memory_soon
from zscope.app.cli.new_files import Listing, list_files, with_outcomes
from zscope.app.cli.nightly.night import Night, StepResult
from zscope.app.cli.store_option import store_errors
from zscope.pipelines.quantities import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from zscope.app.cli.new_files import NewFile
    from zscope.app.cli.nightly.sections import FilesSection, LoadSection
    from zscope.parsers.issues import Severity
    from zscope.parsers.options import ProgressState
    from zscope.pipelines.ingest import IngestOptions
    from zscope.pipelines.ingest.options_and_outcomes import FileOutcome
    from zscope.pipelines.store.commits import Load


_NO_FILES = {"ok": ExitCode.OK, "warning": ExitCode.WARNINGS, "failure": ExitCode.REFUSED}
_RESUMED = "loaded by the run that was interrupted"


def load_files(night: Night, section: LoadSection) -> StepResult:
    """Load the new files; of a night that was interrupted, also report what it had loaded."""
    listing = list_files(section, list(_outside(night)), night.started.timestamp())
    if len(listing.missing) >= len(section.folders):
        text = f"no folder with new files can be read: {'; '.join(map(str, listing.missing))}"
        return StepResult(code=ExitCode.NOTHING, text=text, stops=True)
    outcomes: list[FileOutcome] = []
    error = ""
    try:
        if listing.files or listing.missing or listing.skipped:
            _ingest(night, section, listing, outcomes.append)
    except click.ClickException as failure:
        error = failure.format_message()
    night.files = with_outcomes(listing.files, outcomes)
    with store_errors():
        loads = _NightLoads(outcomes, _earlier_loads(night, outcomes))
    night.loads = tuple(load.load_id for load in loads.all())
    return _result(section, listing, loads, error)


def _outside(night: Night) -> Iterator[Path]:
    """Yield folders in which no new file can be."""
    yield night.settings.store
    yield night.settings.reports_folder
    files = night.settings.files
    if files is not None and files.move_to:
        yield files.move_to


def _ingest(night: Night, section: LoadSection, listing: Listing, add: Callable[[FileOutcome], None]) -> None:
    from zscope.pipelines.ingest import ingest

    def on_outcome(outcome: FileOutcome) -> None:
        add(outcome)
        if not night.quiet:
            night.notify(describe_outcome(outcome))

    return_memory_soon()
    with input_errors(), store_errors(), progress(quiet=night.quiet) as shown:
        options = replace(
            _options(night, section, on_outcome, shown), passed_over=(*listing.missing, *listing.skipped)
        )
        ingest(night.store, [file.path for file in listing.files], options)


def _options(
    night: Night,
    section: LoadSection,
    on_outcome: Callable[[FileOutcome], None],
    shown: Callable[[ProgressState], None] | None,
) -> IngestOptions:
    from zscope.parsers.options import ReadOptions
    from zscope.parsers.smf.framing import Framing
    from zscope.pipelines.ingest import IngestOptions, row_selection

    zones = [f"{system}={zone}" for system, zone in (section.timezones or {}).items()]
    zones += [section.timezone] if section.timezone else []
    return IngestOptions(
        selection=row_selection(section.select, section.systems),
        read_options=ReadOptions(
            system=section.systems[0] if len(section.systems) == 1 else None,
            code_page=section.code_page,
            framing=Framing(section.framing) if section.framing else None,
            jobs=section.jobs,
            strict=section.strict,
            mapping=section.columns or (),
            time_format=section.time_format,
            formatter_zone=section.formatter_zone,
            unpack_limits=night.store_settings.unpack_limits,
            progress=shown,
        ),
        settings=night.store_settings.merge(zones),
        dry_run=night.dry_run,
        listed=True,
        notify=night.notify,
        on_outcome=on_outcome,
    )


def _earlier_loads(night: Night, outcomes: Sequence[FileOutcome]) -> list[Load]:
    """Return what the interrupted run of this night had loaded."""
    from zscope.pipelines.ingest.options_and_outcomes import FileStatus
    from zscope.pipelines.store.commits import read_state
    from zscope.pipelines.store.folder import existing_store

    if not night.begin.resumed:
        return []
    new = {each.load.load_id for each in outcomes if each.load and each.status is FileStatus.LOADED}
    loads = read_state(existing_store(night.store)).live_loads
    return [load for load in loads if load.load_id > night.begin.last_load and load.load_id not in new]


class _NightLoads:
    """The outcomes of this run, and the loads of the run that it continues."""

    def __init__(self, outcomes: Sequence[FileOutcome], earlier: Sequence[Load]) -> None:
        self.outcomes, self.earlier = outcomes, earlier
        self._earlier = {load.load_id for load in earlier}

    def all(self) -> list[Load]:
        """Return the loads of the night, by number."""
        from zscope.pipelines.ingest.options_and_outcomes import FileStatus

        new = [each.load for each in self.outcomes if each.load and each.status is FileStatus.LOADED]
        return sorted([*self.earlier, *new], key=lambda load: load.load_id)

    def items(self) -> list[dict[str, object]]:
        """Return an entry for each file, and for each load whose file is not there any more."""
        seen = {each.load.load_id for each in self.outcomes if each.load}
        gone = [load for load in self.earlier if load.load_id not in seen]
        return [*(_item_of_load(load) for load in gone), *map(self._item, self.outcomes)]

    def _item(self, outcome: FileOutcome) -> dict[str, object]:
        from zscope.pipelines.ingest.options_and_outcomes import FileStatus

        load = outcome.load
        if load and load.load_id in self._earlier:
            return _item_of_load(load)
        if load and outcome.status is FileStatus.LOADED:
            return _item_of_load(load, outcome.note)
        return {
            "file": outcome.file,
            "status": outcome.status.value,
            "load_id": load.load_id if load else None,
            "records": 0,
            "rows": 0,
            "duplicates": 0,
            "issues": dict(outcome.counts),
            "note": outcome.note,
        }


def _item_of_load(load: Load, note: str = _RESUMED) -> dict[str, object]:
    return {
        "file": load.file,
        "status": "loaded",
        "load_id": load.load_id,
        "records": load.records,
        "rows": load.rows,
        "duplicates": load.duplicates,
        "issues": dict(load.issues),
        "note": note,
    }


def _result(section: LoadSection, listing: Listing, loads: _NightLoads, error: str) -> StepResult:
    items = loads.items()
    statuses = Counter(str(item["status"]) for item in items)
    all_loads = loads.all()
    counts = {
        "files": len(items),
        **statuses,
        "unsettled": len(listing.unsettled),
        "not_matching": listing.not_matching,
        "records": sum(load.records for load in all_loads),
        "rows": sum(load.rows for load in all_loads),
        "duplicates": sum(load.duplicates for load in all_loads),
        "issues": sum(map(_issue_count, items)),
    }
    done = ", ".join(f"{number:,} {status}" for status, number in sorted(statuses.items()))
    text = f"{counted(len(items), 'file')}: {done}; " if items else "no new file; "
    text += f"{counts['rows']:,} rows, {counted(counts['issues'], 'issue')}"
    if listing.unsettled:
        text += f"; {counted(len(listing.unsettled), 'file')} left for the next night, as still changing"
    codes = [exit_code_for(_worst(items))]
    if statuses["refused"] or listing.missing:
        codes.append(ExitCode.REFUSED)
    if not all_loads and not statuses["refused"]:
        codes.append(_NO_FILES[section.no_files])
    return StepResult(
        code=ExitCode.NOTHING if error else max(codes),
        text=f"{error}; before that: {text}" if error else text,
        details=tuple(_details(listing, loads)),
        counts=counts,
        items=tuple(items),
        stops=bool(error),
    )


def _issue_count(item: Mapping[str, object]) -> int:
    issues = item["issues"]
    assert isinstance(issues, dict)
    return sum(issues.values())


def _worst(items: Iterable[Mapping[str, object]]) -> Severity | None:
    """Return the highest severity of the issues; a later version of zscope can have stored other codes."""
    from zscope.parsers.issues import Code, Severity, severity_of

    known = {code.value: severity_of(code) for code in Code}
    found: set[str] = set()
    for item in items:
        assert isinstance(item["issues"], dict)
        found |= item["issues"].keys()
    return max((known.get(code, Severity.WARNING) for code in found), default=None)


def _details(listing: Listing, loads: _NightLoads) -> Iterator[str]:
    from zscope.parsers.issues import Severity

    yield from (f"failure: {folder}" for folder in listing.missing)
    issues = [i for each in loads.outcomes for i in each.issues if i.severity > Severity.NOTE]
    worst_first = sorted(issues, key=lambda issue: -issue.severity)
    yield from (f"{issue.severity.name.lower()}: {issue}" for issue in worst_first[:ISSUES_SHOWN])
    if len(issues) > ISSUES_SHOWN:
        yield f"{ISSUES_SHOWN} of {len(issues):,} issues shown; zscope issues lists all"
    for load in loads.earlier:
        codes = ", ".join(f"{number:,} {code}" for code, number in load.issues.items())
        yield f"{load.file}: {_RESUMED}, as load {load.load_id}{f'; issues: {codes}' if codes else ''}"
    for outcome in loads.outcomes:
        if outcome.status.value == "nothing to load":
            yield f"{outcome.file}: nothing to load"
    yield from (f"{file}; left for the next night" for file in listing.unsettled)
    yield from map(str, listing.skipped)


def put_files_away(night: Night, section: FilesSection) -> StepResult:
    """Move or delete the files of which everything is in the store."""
    from zscope.parsers.inputs import shown

    items: list[dict[str, object]] = []
    details: list[str] = []
    done = failed = 0
    for loaded in night.files:
        name = shown(str(loaded.file.path))
        if reason := why_it_stays(loaded):
            items.append({"file": name, "done": "stays", "to": None, "why": reason})
            details.append(f"{name}: stays, {reason}")
            continue
        try:
            to = _planned(section, loaded.file) if night.dry_run else _put_away(section, loaded.file)
        except OSError as error:
            failed += 1
            items.append({"file": name, "done": "stays", "to": None, "why": describe(error)})
            details.append(f"failure: {name}: {describe(error)}")
            continue
        done += 1
        items.append({"file": name, "done": _done(section, night), "to": to, "why": None})
        if night.dry_run:
            details.append(f"{name}: {_done(section, night)}{f' to {to}' if to else ''}")
    left = len(items) - done
    text = f"{counted(done, 'file')} {_done(section, night)}"
    if section.move_to:
        text += f" to {section.move_to}"
    return StepResult(
        code=ExitCode.REFUSED if failed else ExitCode.OK,
        text=f"{text}, {left:,} {'stays' if left == 1 else 'stay'}" if left else text,
        details=tuple(details),
        counts={"done": done, "left": left},
        items=tuple(items),
    )


def _done(section: FilesSection, night: Night) -> str:
    verb = "moved" if section.after_load == "move" else "deleted"
    return f"would be {verb}" if night.dry_run else verb


def _planned(section: FilesSection, file: NewFile) -> str | None:
    return str(section.move_to / file.inside) if section.move_to else None


def _put_away(section: FilesSection, file: NewFile) -> str | None:
    if section.move_to is None:
        file.path.unlink()
        return None
    return str(move_file(file, section.move_to / file.inside))
