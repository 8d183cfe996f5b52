"""Read the settings of the nightly batch, strictly: a mistake in them must not show at night."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from zscope.app.cli.nightly.declaring import SectionDeclaration, declared_settings, default_values
from zscope.app.cli.nightly.kinds import SettingPlace
from zscope.app.cli.nightly.sections import (
    NIGHTLY_FOLDER,
    ExportSection,
    FilesSection,
    GeneralSection,
    LoadSection,
    ReportSection,
)
from zscope.pipelines.settings import read_toml, shortened
from zscope.schemas.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator

Section = TypeVar("Section")


@dataclass(frozen=True, slots=True)
class NightlySettings:
    """The settings of the nightly batch."""

    file: Path
    general: GeneralSection
    sections: Mapping[type, tuple[object, ...]]
    """The sections that the file has, by class."""

    def all(self, section: type[Section]) -> tuple[Section, ...]:
        """Return the sections of a class, none if the file has none."""
        return tuple(each for each in self.sections.get(section, ()) if isinstance(each, section))

    def one(self, section: type[Section]) -> Section:
        """Return a section that the file has."""
        return self.all(section)[0]

    @property
    def reports(self) -> Path:
        """The folder of the reports."""
        return self.general.reports or self.general.store / NIGHTLY_FOLDER


def read_nightly_settings(path: Path, declared: Sequence[SectionDeclaration]) -> NightlySettings:
    """Read a settings file; raise SettingsError with file, key, and what is valid, if it cannot be used."""
    content = read_toml(path)
    top = SettingPlace(path, "")
    names = {section.name: section for section in declared}
    general = {name: value for name, value in content.items() if name not in names}
    homes = {key: each.heading for each in declared for key in declared_settings(each.section)}
    settings = NightlySettings(
        path,
        _read_section(GeneralSection, top, general, also=tuple(names), homes=homes),
        {each.section: tuple(_read_sections(each, top, content)) for each in declared},
    )
    _check_paths(settings, {each.section: top.below(each.name) for each in declared})
    return settings


def _read_sections(
    declaration: SectionDeclaration, top: SettingPlace, content: Mapping[str, Any]
) -> Iterator[object]:
    place = top.below(declaration.name)
    if declaration.name not in content:
        if declaration.required:
            raise place.error(f"is missing; the section {declaration.heading} is required")
        return
    raw = content[declaration.name]
    if not declaration.repeated:
        if not isinstance(raw, dict):
            raise place.expected(f"a section {declaration.heading}", raw)
        yield _read_section(declaration.section, place, raw)
        return
    if not isinstance(raw, list) or not all(isinstance(each, dict) for each in raw):
        hint = "; write the heading with two brackets" if isinstance(raw, dict) else ""
        raise place.error(f"expected sections {declaration.heading}, got {shortened(raw)}{hint}")
    for number, each in enumerate(raw):
        numbered = SettingPlace(place.file, f"{place.key}[{number}]") if len(raw) > 1 else place
        yield _read_section(declaration.section, numbered, each)


def _read_section(
    section: type[Section],
    place: SettingPlace,
    raw: Mapping[str, Any],
    *,
    also: tuple[str, ...] = (),
    homes: Mapping[str, str] | None = None,
) -> Section:
    """Read one section; `also` are names of sections, `homes` the sections of misplaced keys."""
    declared, defaults = declared_settings(section), default_values(section)
    for name in raw:
        if name not in declared:
            valid = ", ".join([*declared, *(f"[{each}]" for each in also)])
            hint = suggestion(name, [*declared, *also], f"valid: {valid}")
            if homes and name in homes:
                hint = f"it belongs to the section {homes[name]}"
            raise place.below(name).error(f"is not a setting; {hint}")
    values: dict[str, object] = {}
    for key, setting in declared.items():
        if key in raw:
            values[key] = setting.kind.read(place.below(key), raw[key])
        elif key not in defaults:
            problem = f"is missing; expected {setting.kind.text}, such as {key} = {setting.example}"
            raise place.below(key).error(problem)
    made = section(**values)
    if check := getattr(made, "check", None):
        check(place)
    return made


def _check_paths(settings: NightlySettings, places: Mapping[type, SettingPlace]) -> None:
    """Raise SettingsError for folders that must not be in each other."""
    store = settings.general.store.resolve()
    folders = settings.one(LoadSection).folders
    for folder in folders:
        if _is_in(folder, store):
            raise places[LoadSection].below("folders").error(f"{folder} is in the store {store}")
    for files in settings.all(FilesSection):
        if files.move_to is None:
            continue
        place = places[FilesSection].below("move_to")
        if _is_in(files.move_to, store):
            raise place.error(f"{files.move_to} is in the store {store}; choose a folder outside of it")
        for folder in folders:
            if _is_in(folder, files.move_to.resolve()):
                problem = f"the folder {folder} is the same or in it, so its files would not be loaded"
                raise place.error(f"{files.move_to}: {problem}; choose another folder")
    targets: list[str] = []
    written = [(places[ReportSection].below("path"), each.path) for each in settings.all(ReportSection)]
    written += [(places[ExportSection].below("target"), each.target) for each in settings.all(ExportSection)]
    for place, target in written:
        for other in (store, *(folder.resolve() for folder in folders)):
            if _is_in(target.fixed_folder(), other):
                what = "the store" if other == store else "a folder with new files"
                raise place.error(f"{target.text} is in {what}, {other}; choose a path outside of it")
        if str(target.folder / target.text) in targets:
            raise place.error(f"{target.text} is written twice; use different names")
        targets.append(str(target.folder / target.text))


def _is_in(path: Path, folder: Path) -> bool:
    resolved = path.resolve()
    return resolved == folder or folder in resolved.parents
