"""What all commands that read inputs share: their options, and what is said about issues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from functools import wraps
from typing import TYPE_CHECKING

import click

from zscope.app.exits import ExitCode, NothingDoneError, RefusedError
from zscope.app.output import Output, Rows
from zscope.app.output.options import chosen_format
from zscope.app.output.target import STANDARD_OUTPUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.parsers import FileSummary, Framing, Issues

TOLD = 20
"""So many issues are told one by one."""

# Written out, because reading them from the parsers would make every --help load Arrow; a test compares.
CODE_PAGES = ("1047", "037")
FRAMINGS = ("rdw", "bdw", "rdw-exclusive")

Command = Callable[..., int | None]


@dataclass(frozen=True, slots=True)
class Reading:
    """How inputs are read and where issues go."""

    framing: Framing | None
    quiet: bool
    issues: Output | None


def day_or_time(text: str) -> date:
    """A day, or a day with a time of day on the system's clock.

    >>> day_or_time("2026-03-02"), day_or_time("2026-03-02T09:41")
    (datetime.date(2026, 3, 2), datetime.datetime(2026, 3, 2, 9, 41))
    """
    try:
        if len(text) <= len("2026-03-02"):
            return date.fromisoformat(text)
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is no day such as 2026-03-02 or 2026-03-02T09:41") from error
    if found.tzinfo:
        raise click.BadParameter("leave the zone out: displays show the local time of their system")
    return found


def display_options(command: Command) -> Command:
    """Give a command the options for what captured displays do not say themselves."""
    system = click.option(
        "--system", metavar="NAME", help="Name of the system for records and displays that do not tell it."
    )
    taken = click.option(
        "--taken", metavar="DAY", type=day_or_time,
        help="Day (2026-03-02) of displays that show only the time of day, or day and time "
        "(2026-03-02T09:41) of those that show neither. Default: from the name of the file.",
    )  # fmt: skip
    return system(taken(command))


code_page_option = click.option(
    "--code-page", type=click.Choice(CODE_PAGES), default=CODE_PAGES[0], show_default=True,
    help="EBCDIC code page of texts in the records.",
)  # fmt: skip


def reading_options(command: Command) -> Command:
    """Give a command the options of reading; it gets one argument `reading` made from them."""

    @click.option(
        "--framing", type=click.Choice(FRAMINGS),
        help="How records follow each other, where looking at the file leads astray: with length words, in "
        "blocks, or with length words that do not count themselves.",
    )  # fmt: skip
    @click.option(
        "--issues", "issues_path", metavar="FILE",
        help="Write all issues to FILE, in the format of its ending (csv, json, jsonl, parquet, arrow, txt).",
    )  # fmt: skip
    @click.option("-q", "--quiet", is_flag=True, help="No progress and no summaries; issues are still told.")
    @wraps(command)
    def with_reading(
        framing: str | None, issues_path: str | None, *, quiet: bool, **options: object
    ) -> int | None:
        issues = Output(chosen_format(None, issues_path), issues_path) if issues_path else None
        return command(reading=Reading(_framing(framing), quiet, issues), **options)

    return with_reading


def _framing(name: str | None) -> Framing | None:
    from zscope.parsers import Framing

    return Framing(name) if name else None


@contextmanager
def input_errors() -> Iterator[None]:
    """Turn what the parsers raise into messages: a wrong selection, or the first issue under --strict."""
    from zscope.parsers import InputError, SelectionError

    try:
        yield
    except SelectionError as error:
        raise click.UsageError(str(error)) from error
    except InputError as error:
        raise RefusedError(str(error)) from error


def distinct_outputs(output: str, other: str | None, option: str) -> None:
    """Refuse two outputs of one name: the second would replace the first."""
    if other and other == output and other != STANDARD_OUTPUT:
        raise click.UsageError(f"-o and {option} both name {other}; give them different names")


def tell_files(files: Sequence[FileSummary]) -> None:
    """One line for each file that was read."""
    for file in files:
        packing = f"packed with {', '.join(file.packing)}, " if file.packing else ""
        click.echo(f"{file.file}: {_KINDS[file.kind]}, {packing}{_content(file)}", err=True)


_KINDS = {"smf": "SMF dump", "text": "text", "xml": "XML", "json": "JSON"}


def _content(file: FileSummary) -> str:
    if file.skipped:
        return "not read, as the table comes from other inputs"
    if file.kind == "smf":
        records = _number(file.records, "record")
        return f"framing {file.form}, {records} ({file.spanned:,} spanned), {file.bytes:,} bytes"
    coding = f"{file.form}, {_number(file.lines, 'line')}, " if file.kind in {"text", "json"} else ""
    return f"{coding}{_number(file.reports, 'report')}"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun if count == 1 else f'{noun}s'}"


def conclude(issues: Issues, reading: Reading, *, anything: bool) -> ExitCode:
    """Tell the issues, write them where they are wanted, and say how the run ended.

    `anything` says whether there was something to read at all.
    """
    from zscope.parsers import Code, Severity

    if reading.issues:
        reading.issues.write(Rows.of(issues.to_arrow()))
    tell_issues(issues)
    if not anything and all(issue.code is Code.UNREADABLE for issue in issues):
        raise NothingDoneError("no input could be opened" if len(issues) else "there is nothing to read")
    match issues.worst:
        case Severity.REFUSED:
            return ExitCode.REFUSED
        case Severity.WARNING:
            return ExitCode.WARNINGS
        case _:
            return ExitCode.OK


def tell_issues(issues: Issues) -> None:
    """The worst issues one by one with their place, and how many there are of each kind."""
    worst_first = sorted(issues, key=lambda issue: -issue.severity)
    for issue in worst_first[:TOLD]:
        click.echo(f"{issue.severity.name.lower()}: {issue}", err=True)
    if len(worst_first) > TOLD:
        counts: Counter[str] = Counter({code.value: count for code, count in issues.counts().items()})
        kinds = ", ".join(f"{count:,} {code}" for code, count in counts.most_common())
        click.echo(
            f"{TOLD} of {len(issues):,} issues shown: {kinds}; --issues FILE writes them all", err=True
        )
