"""Read the settings of the nightly batch, strictly: a mistake in them must not show at night."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args, get_origin

from msgspec import Meta
from msgspec.structs import fields

from zscope.app.cli.nightly.sections import (
    CheckSection,
    ExpireSection,
    ExportSection,
    FilesSection,
    LoadSection,
    NightReportSection,
    PublishSection,
    SettingPath,
    ValidateSection,
    key,
)
from zscope.pipelines.settings import Seconds
from zscope.schemas.allowed import is_table, without_annotations
from zscope.schemas.declared import Declared, TomlFile
from zscope.schemas.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.app.cli.nightly.setting_values import DatedPath
    from zscope.schemas.toml_lines import KeyPath

NIGHTLY_FOLDER = "nightly"
"""Folder in the store with the lock, the note of an unfinished night, and by default the reports."""


class NightlySettings(Declared, frozen=True, kw_only=True):
    """Keys at the top of the file, before the first section."""

    store: Annotated[
        SettingPath, key("Folder of the store; it is created if it does not exist.", '"/data/zscope"')
    ]
    settings: Annotated[
        SettingPath | None,
        key(
            "The file `zscope.toml` with the time zones of the systems and the options of the store.",
            '"/data/zscope.toml"',
            "`zscope.toml` in the store, else in the folder of this file",
        ),
    ] = None
    lock_wait_s: Annotated[
        Seconds | None,
        key(
            "How long each step waits while another process changes the store.",
            "600",
            "`lock_wait_s` of `zscope.toml`, else 600",
        ),
    ] = None
    reports: Annotated[
        SettingPath | None,
        key("Folder of the reports of the nights.", '"/var/log/zscope"', "the folder `nightly` in the store"),
    ] = None
    keep_reports: Annotated[
        Annotated[int, Meta(ge=1, le=100_000)], key("Number of nights whose reports are kept.", "100")
    ] = 100

    load: LoadSection
    files: FilesSection | None = None
    validate: ValidateSection | None = None
    expire: ExpireSection | None = None
    check: CheckSection | None = None
    publish: PublishSection | None = None
    report: NightReportSection | None = None
    export: tuple[ExportSection, ...] = ()

    @property
    def reports_folder(self) -> Path:
        """The folder of the reports."""
        return self.reports or self.store / NIGHTLY_FOLDER


@dataclass(frozen=True, slots=True)
class SectionInFile:
    """How a section is written in the file."""

    keys: type[Declared]
    heading: str
    required: bool


def sections_in_file() -> dict[str, SectionInFile]:
    """Return the sections by name, in their order."""
    sections = {}
    for each in fields(NightlySettings):
        kind, _ = without_annotations(each.type)
        repeated = get_origin(kind) is tuple
        keys = get_args(kind)[0] if repeated else kind
        if is_table(keys):
            heading = f"[[{each.name}]]" if repeated else f"[{each.name}]"
            sections[each.name] = SectionInFile(keys, heading, each.required)
    return sections


def read_nightly_settings(path: Path) -> NightlySettings:
    """Read a settings file; raise SettingsError with file, line, key, and what is valid, if it is wrong."""
    file = TomlFile.read(path, str(path), SettingsError)
    settings = file.typed(NightlySettings)
    _check_paths(settings, file)
    return settings


def _check_paths(settings: NightlySettings, file: TomlFile) -> None:
    """Raise SettingsError for folders that must not be in each other."""
    store = settings.store.resolve()
    folders = settings.load.folders
    for folder in folders:
        if _is_in(folder, store):
            raise file.error(("load", "folders"), f"{folder} is in the store {store}")
    if settings.files and (target := settings.files.move_to):
        place: KeyPath = ("files", "move_to")
        if _is_in(target, store):
            raise file.error(place, f"{target} is in the store {store}; choose a folder outside of it")
        for folder in folders:
            if _is_in(folder, target.resolve()):
                problem = f"the folder {folder} is the same or in it, so its files would not be loaded"
                raise file.error(place, f"{target}: {problem}; choose another folder")
    others = dict.fromkeys((folder.resolve() for folder in folders), "a folder with new files")
    written: set[str] = set()
    for place, path in _written(settings):
        for other, what in {**others, store: "the store"}.items():
            if _is_in(path.fixed_folder(), other):
                raise file.error(place, f"{path.text} is in {what}, {other}; choose a path outside of it")
        if str(path.folder / path.text) in written:
            raise file.error(place, f"{path.text} is written twice; use different names")
        written.add(str(path.folder / path.text))


def _written(settings: NightlySettings) -> Iterator[tuple[KeyPath, DatedPath]]:
    """Yield the places of the keys that name a file or a folder to write, and the paths."""
    if settings.report:
        yield ("report", "path"), settings.report.path
    for number, export in enumerate(settings.export):
        yield ("export", number, "target"), export.target


def _is_in(path: Path, folder: Path) -> bool:
    resolved = path.resolve()
    return resolved == folder or folder in resolved.parents
