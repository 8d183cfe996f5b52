"""The step `files`: move or delete the files that are in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.app.cli.exits import ExitCode, describe
from zscope.app.cli.files_put_away import move_file, why_it_stays
from zscope.app.cli.nightly.night import Night, StepResult
from zscope.pipelines.quantities import counted

if TYPE_CHECKING:
    from zscope.app.cli.new_files import NewFile
    from zscope.app.cli.nightly.sections import FilesSection


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
