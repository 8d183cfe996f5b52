"""Read the layout files into the model, and report the place of a wrong declaration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from zscope.schemas.code_tables import read_code_tables
from zscope.schemas.declared import Declared, TomlFile
from zscope.schemas.model import (
    EXTENDED_HEADER,
    HEADER,
    TRIPLET_BYTES,
    TRIPLET_PARTS,
    Catalog,
    Evidence,
    Field,
    Format,
    LayoutSource,
    RecordLayout,
    Section,
    TableLayout,
    TripletArea,
    record_label,
)

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from zscope.schemas.errors import DeclarationError
    from zscope.schemas.toml_lines import KeyPath


TRIPLET_COUNT_BYTES = 2
MARK_NUMBER_BYTES = 2
_ANY_PREFIX = "SMFx"
_NO_SUBTYPE = "none"


class FieldChange(Declared, frozen=True):
    """Changes of an inherited field by a family of records. Its offset, length and format cannot change."""

    name: str | None = None
    column: str | None = None
    meaning: str | None = None
    codes: str | None = None
    evidence: Evidence | None = None
    source: str | None = None


class HeaderDeclaration(Declared, frozen=True):
    """`[header]`: the header of a family of records, with inherited fields and fields of its own."""

    title: str | None = None
    lengths: Mapping[str, int] | None = None
    prefix: str = _ANY_PREFIX
    """Takes the place of SMFx in the names of inherited fields."""
    standard: Mapping[str, FieldChange] = msgspec.field(default_factory=dict)
    """Changes of single inherited fields."""
    fields: tuple[Field, ...] = ()
    evidence: Evidence | None = None
    source: str | None = None


class TripletsDeclaration(Declared, frozen=True):
    """`[triplets]`: where they are, and how many."""

    at: int | None = None
    count: str | None = None
    """The field of the header with their number."""
    number: int | None = None
    places: tuple[int, ...] = ()
    """Where each is, if other fields are between them; instead of `at`."""
    least: int = 1
    """For `places`: how many every record has."""


class FamilyFile(Declared, frozen=True, kw_only=True):
    """What several layouts share."""

    header: HeaderDeclaration | None = None
    triplets: TripletsDeclaration | None = None
    section: tuple[Section, ...] = ()
    continued_by: str = ""


class RecordFile(FamilyFile, frozen=True, kw_only=True):
    """The layout of a record, or of several subtypes with the same layout."""

    type: int
    title: str
    subtype: int | Literal["none"] | None = None
    """`none`: records of the type have no subtype, and their header ends before it."""
    subtypes: tuple[int, ...] = ()
    common: str = ""
    """The file with what it shares with others."""
    note: str = ""
    shown_as: str = ""
    header_only: bool = False
    table: tuple[TableLayout, ...] = ()


class SourceDeclaration(Declared, frozen=True):
    """A document with facts about layouts."""

    title: str
    url: str = ""


@cache
def catalog() -> Catalog:
    """Return all declarations of this installation, read once."""
    return read_catalog(files("zscope.schemas"))


def read_catalog(folder: Traversable) -> Catalog:
    """Read every declaration below a folder (`layouts`, `codes`)."""
    layouts = {file.name: file for file in _toml_files(folder / "layouts")}
    sources = layouts.pop("sources.toml").typed(dict[str, SourceDeclaration])
    header, _ = _headers(layouts.pop("smf_header.toml"))
    families = {f"{file.content.get('common')}.toml" for file in layouts.values()}
    records: dict[tuple[int, int | None], RecordLayout] = {}
    for name, file in layouts.items():
        if name not in families:
            for record in _records(file, layouts, header):
                if (record.type, record.subtype) in records:
                    problem = f"{record_label(record.type, record.subtype)} is declared by another file"
                    raise file.error(("subtype",), problem)
                records[record.type, record.subtype] = record
    codes = read_code_tables(_toml_files(folder / "codes"))
    documents = {key: LayoutSource(key, source.title, source.url) for key, source in sources.items()}
    return Catalog(header, records, codes, documents)


def _toml_files(folder: Traversable) -> list[TomlFile]:
    found = (file for file in folder.iterdir() if file.name.endswith(".toml"))
    return [TomlFile.read(file) for file in sorted(found, key=lambda file: file.name)]


def standard_header() -> Section:
    """Return the standard header, which all layouts inherit, without reading all other declarations."""
    return _installed_headers()[0]


def extended_header() -> Section:
    """Return the header that follows the standard one in records whose type does not fit into one byte."""
    return _installed_headers()[1]


@cache
def _installed_headers() -> tuple[Section, Section]:
    return _headers(TomlFile.read(files("zscope.schemas") / "layouts" / "smf_header.toml"))


def _headers(file: TomlFile) -> tuple[Section, Section]:
    """Return the standard header and the extended one."""
    sections = file.typed(FamilyFile, _with_proofs(file.content)).section
    if [section.key for section in sections] != [HEADER, EXTENDED_HEADER]:
        raise file.error(("section",), f"expected two sections, with the keys {HEADER} and {EXTENDED_HEADER}")
    return sections[0], sections[1]


def family_triplets(common: str) -> TripletArea:
    """Return where a family of records has its triplets, without reading all other declarations.

    >>> family_triplets("smf119_common").at
    28
    """
    file = TomlFile.read(files("zscope.schemas") / "layouts" / f"{common}.toml")
    family = file.typed(FamilyFile, _with_proofs(file.content))
    header = standard_header() if family.header is None else _header(file, family.header, standard_header())
    area = _triplet_area(file, family.triplets, header)
    if area is None:
        raise file.error(("triplets",), "is missing")
    return area


def _with_proofs(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a layout whose fields have the evidence and source of their section or header."""
    completed = dict(content)
    if isinstance(content.get("section"), list):
        completed["section"] = [with_proof(section, "fields") for section in content["section"]]
    if "header" in content:
        completed["header"] = with_proof(content["header"], "fields")
    return completed


def with_proof(table: Any, key: str) -> Any:  # noqa: ANN401 - a value of TOML
    """Return a table whose fields, a list at a key, have its evidence and source if they state none."""
    if not isinstance(table, dict) or not isinstance(table.get(key), list):
        return table
    proof = {name: table[name] for name in ("evidence", "source") if name in table}
    return table | {key: [proof | field if isinstance(field, dict) else field for field in table[key]]}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where something is declared."""

    file: TomlFile
    path: KeyPath

    def error(self, problem: str, *below: str | int) -> DeclarationError:
        return self.file.error((*self.path, *below), problem)


def _records(file: TomlFile, others: Mapping[str, TomlFile], standard: Section) -> Iterator[RecordLayout]:
    """Yield the layouts of one file: one for each subtype, equal but for its number."""
    content = _with_proofs(file.content)
    layers: list[tuple[TomlFile, FamilyFile]] = []
    if family_file := others.get(f"{content.get('common')}.toml"):
        layers.append((family_file, family_file.typed(FamilyFile, _with_proofs(family_file.content))))
        shared, own = family_file.content.get("triplets", {}), content.get("triplets", {})
        if shared and isinstance(own, dict):
            content["triplets"] = shared | own
    declared = file.typed(RecordFile, content)
    if declared.common and not family_file:
        raise file.error(("common",), f"there is no file {declared.common}.toml")
    if (declared.subtype is None) != bool(declared.subtypes):
        raise file.error(("subtype",), "takes either 'subtype' or 'subtypes'")
    record = _record(file, declared, [*layers, (file, declared)], standard)
    if declared.subtype == _NO_SUBTYPE:
        yield record
    for subtype in record.subtypes:
        yield replace(record, subtype=subtype)


def _record(
    file: TomlFile, own: RecordFile, layers: list[tuple[TomlFile, FamilyFile]], standard: Section
) -> RecordLayout:
    """Return the layout of the first subtype with what it inherits: the standard header, and its family."""
    if all(layer.header is None for _, layer in layers):
        problem = "is missing: declare [header] here or in the file that `common` names"
        raise file.error((HEADER,), problem)
    header = _without_subtype(standard) if own.subtype == _NO_SUBTYPE else standard
    for place, layer in layers:
        if layer.header is not None:
            header = _header(place, layer.header, header)
    sections, places = {HEADER: header}, {HEADER: _Place(file, (HEADER,))}
    for place, layer in layers:
        for number, section in enumerate(layer.section):
            where = _Place(place, ("section", number))
            if section.key in sections:
                raise where.error("is declared twice")
            _check_partners(where, section)
            sections[section.key], places[section.key] = section, where
    _check_conditions(sections, places)
    for number, table in enumerate(own.table):
        _check_table(_Place(file, ("table", number)), table, sections)
    subtypes = (own.subtype,) if isinstance(own.subtype, int) else own.subtypes
    subtype = subtypes[0] if subtypes else None
    record = RecordLayout(
        type=own.type,
        subtype=subtype,
        title=own.title,
        sections=tuple(sections.values()),
        tables=own.table,
        triplets=_triplet_area(file, own.triplets, header),
        note=own.note,
        shown_as=own.shown_as or f"{own.title} (SMF {record_label(own.type, subtype)})",
        subtypes=subtypes,
        header_only=own.header_only,
        continued_by=layers[0][1].continued_by or own.continued_by,
    )
    if record.continued_by and record.continued_by not in sections:
        raise file.error(("continued_by",), f"{record.continued_by!r} is no section of the record")
    _check_places(file, record, places)
    return record


def _without_subtype(standard: Section) -> Section:
    """Return the standard header as records without subtypes have it: nothing follows the system."""
    end = standard.shortest_length
    lengths = {name: length for name, length in (standard.lengths or {}).items() if length == end}
    fields = tuple(field for field in standard.fields if field.end <= end)
    return msgspec.structs.replace(standard, lengths=lengths, fields=fields)


def _header(file: TomlFile, declared: HeaderDeclaration, inherited: Section) -> Section:
    """Return the header of a family of records."""
    names = {field.name: field.name.replace(_ANY_PREFIX, declared.prefix) for field in inherited.fields}
    for name, change in declared.standard.items():
        if name not in names:
            problem = f"is no field of the inherited header, which are {', '.join(names)}"
            raise file.error((HEADER, "standard", name), problem)
        names[name] = change.name or names[name]
    proof = FieldChange(evidence=declared.evidence, source=declared.source)
    fields = []
    for field in inherited.fields:
        changes = {"name": names[field.name], "date": names.get(field.date, "")}
        for change in (proof, declared.standard.get(field.name, proof)):
            changes |= {
                key: value for key, value in msgspec.structs.asdict(change).items() if value is not None
            }
        fields.append(msgspec.structs.replace(field, **changes))
    fields += declared.fields
    return msgspec.structs.replace(
        inherited,
        title=declared.title or inherited.title,
        lengths=declared.lengths or inherited.lengths,
        fields=tuple(fields),
    )


def _triplet_area(
    file: TomlFile, declared: TripletsDeclaration | None, header: Section
) -> TripletArea | None:
    """Return where the triplets are: `at`, with `count` (a field of the header) or `number`; or `places`."""
    if declared is None:
        return None
    place = _Place(file, ("triplets",))
    if declared.places:
        return _placed_triplets(place, declared, header)
    if declared.at is None:
        raise place.error("'at' is missing", "at")
    if (declared.count is None) == (declared.number is None):
        raise place.error("takes either 'count' or 'number'")
    if declared.at < header.known_length:
        raise place.error(f"at {declared.at}, they lie over the header of {header.known_length} bytes", "at")
    if declared.number is not None:
        return TripletArea(declared.at, number=declared.number)
    counts = [field for field in header.fields if field.name == declared.count]
    if not counts:
        raise place.error(f"{declared.count!r} is no field of the header", "count")
    if counts[0].format is not Format.UINT or counts[0].length != TRIPLET_COUNT_BYTES:
        raise place.error(f"{declared.count!r} is not a number of two bytes", "count")
    return TripletArea(declared.at, count_at=counts[0].offset)


def _placed_triplets(place: _Place, declared: TripletsDeclaration, header: Section) -> TripletArea:
    """Return triplets with other fields between them."""
    places, least = declared.places, declared.least
    if not 0 < least <= len(places):
        raise place.error(f"'least' is {least}, but there are {len(places)} places", "least")
    taken = [(field.offset, field.end, field.name) for field in header.fields]
    taken += [(at, at + TRIPLET_BYTES, f"triplet {index}") for index, at in enumerate(places)]
    for before, after in pairwise(sorted(taken)):
        if after[0] < before[1]:
            raise place.error(f"{after[2]} overlaps {before[2]}", "places")
    if list(places) != sorted(places):
        raise place.error("'places' are not in order", "places")
    ends = tuple((header.lengths or {}).values())
    return TripletArea(places[0], number=len(places), places=places, ends=ends, least=least)


def _check_places(file: TomlFile, record: RecordLayout, places: Mapping[str, _Place]) -> None:
    """Every section that makes rows or lends columns to them must have a place in the record."""
    used = {*(join.section for table in record.tables for join in table.joins)}
    used |= {section.key for section in record.row_sections}
    for section in record.sections:
        place = places[section.key]
        if section.mark:
            _check_mark(place, record, section)
        elif section.base and section.key in used:
            _check_pointer(place, record, section)
        elif section.triplet is None:
            if section.key in used and section.key != HEADER:
                raise place.error("is used by a table, but has no triplet that locates it")
        elif record.triplets is None:
            raise file.error(("triplets",), f"is missing: section {section.key!r} is located by a triplet")
        elif record.triplets.number is not None and section.triplet >= record.triplets.number:
            problem = f"has triplet {section.triplet}, but there are only {record.triplets.number}"
            raise place.error(problem, "triplet")


def _check_mark(place: _Place, record: RecordLayout, section: Section) -> None:
    """The fields of a mark are numbers of two bytes of its section, which has a known length and entries."""
    numbers = {f.name for f in section.fields if f.format is Format.UINT and f.length == MARK_NUMBER_BYTES}
    assert section.mark is not None
    if not numbers.issuperset({section.mark.size, section.mark.count}) or not section.lengths:
        raise place.error("needs 'lengths', and 'size' and 'count' that are numbers of two bytes", "mark")
    if all(other.base != section.key for other in record.sections):
        raise place.error("needs a section with the entries, which has it as 'base'", "mark")


def _check_pointer(place: _Place, record: RecordLayout, section: Section) -> None:
    """The pointer of a section inside another one consists of numbers in that section or in its base."""
    bases = {each.key: each for each in record.sections}
    if section.base not in bases:
        raise place.error(f"there is no section {section.base!r}", "base")
    outer = bases[section.base]
    if outer.mark:
        if not section.step_field:
            raise place.error("needs the field with the length of each entry", "step_field")
        return
    chain = [outer, *([bases[outer.base]] if outer.base in bases else [])]
    numbers = {field.name for each in chain for field in each.fields if field.format is Format.UINT}
    if len(section.pointer) != len(TRIPLET_PARTS) or not numbers.issuperset(section.pointer):
        raise place.error(f"needs three numbers of the section {section.base!r} or of its base", "pointer")


def _check_conditions(sections: Mapping[str, Section], places: Mapping[str, _Place]) -> None:
    """The field of a condition may be in any section of the record."""
    known = {field.name for section in sections.values() for field in section.fields}
    for key, section in sections.items():
        for number, field in enumerate(section.fields):
            for condition in (*field.when, *field.unless):
                if condition.field not in known:
                    problem = f"depends on {condition.field!r}, which is not declared"
                    raise places[key].error(problem, "fields", number)


def _check_partners(place: _Place, section: Section) -> None:
    """The partners of a field are in its section."""
    names = {field.name for field in section.fields}
    for number, field in enumerate(section.fields):
        for partner in (field.date, field.size, field.form):
            if partner and partner not in names:
                raise place.error(f"names {partner!r}, which is not declared here", "fields", number)


def _check_table(place: _Place, table: TableLayout, sections: Mapping[str, Section]) -> None:
    for key in (*table.rows, *(join.section for join in table.joins)):
        if key not in sections:
            raise place.error(f"uses section {key!r}, which is not declared")
    if set(table.kind.texts if table.kind else table.rows[:1]) != set(table.rows):
        raise place.error("needs one text in `kind` for each section that makes rows")
    if table.numbering:
        base = sections.get(sections[table.rows[0]].base)
        if base is None or table.numbering.by not in {field.column for field in base.fields}:
            raise place.error("'by' is no column of the section with the pointer", "numbering", "by")
