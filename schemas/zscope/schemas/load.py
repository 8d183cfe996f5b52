"""Read the layout and code files into the model, and report the file and key of a wrong declaration."""

from __future__ import annotations

import csv
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from zscope.schemas.errors import DeclarationError
from zscope.schemas.model import (
    HEADER,
    TRIPLET_BYTES,
    Catalog,
    CodeTable,
    Condition,
    Evidence,
    Field,
    Format,
    Join,
    LayoutSource,
    MaskedCodes,
    RecordLayout,
    RowKind,
    Section,
    TableLayout,
    TripletArea,
    connection_rows,
    running_totals,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable


TRIPLET_COUNT_BYTES = 2
_ANY_PREFIX = "SMFx"


@dataclass(frozen=True, slots=True)
class CipherSuite:
    """One cipher suite by its number on the wire."""

    code: str
    """Four hexadecimal digits, or six for SSLv2."""
    name: str
    protocol: str
    key_exchange: str
    authentication: str
    encryption: str
    key_bits: int
    mode: str
    mac: str
    hash: str
    pfs: str


@cache
def catalog() -> Catalog:
    """Return all declarations of this installation, read once."""
    return read_catalog(files("zscope.schemas"))


def read_catalog(folder: Traversable) -> Catalog:
    """Read every declaration below a folder (`layouts`, `codes`)."""
    layouts = folder / "layouts"
    sources = {
        key: LayoutSource(key, str(entry["title"]), str(entry.get("url", "")))
        for key, entry in read_toml(layouts / "sources.toml").items()
    }
    header = read_header(folder)
    records: dict[tuple[int, int], RecordLayout] = {}
    for file in sorted(layouts.iterdir(), key=lambda f: f.name):
        content = read_toml(file) if file.name.endswith(".toml") else {}
        if "subtype" in content or "subtypes" in content:
            for record in _records(file, content, layouts, header):
                if (record.type, record.subtype) in records:
                    problem = f"{record.type}-{record.subtype} is declared by another file"
                    raise DeclarationError(file.name, "subtype", problem)
                records[record.type, record.subtype] = record
    codes: dict[str, CodeTable] = {}
    for file in sorted((folder / "codes").iterdir(), key=lambda f: f.name):
        if file.name.endswith(".toml"):
            codes.update((name, _code_table(file.name, name, raw)) for name, raw in read_toml(file).items())
    names: dict[int | str, str] = {suite.code: suite.name for suite in cipher_suites().values()}
    codes["cipher"] = CodeTable("cipher", "Cipher suite", "text", names)
    return Catalog(header, records, codes, sources)


def read_header(folder: Traversable) -> Section:
    """Read the standard header, which all layouts inherit."""
    file = folder / "layouts" / "smf_header.toml"
    sections = _sections(file.name, read_toml(file))
    if [section.key for section in sections] != [HEADER]:
        raise DeclarationError(file.name, HEADER, "must be the only section of this file")
    return sections[0]


@cache
def standard_header() -> Section:
    """Return the standard header without reading all other declarations."""
    return read_header(files("zscope.schemas"))


def family_triplets(common: str) -> TripletArea:
    """Return where a family of records has its triplets, without reading all other declarations.

    >>> family_triplets("smf119_common").at
    28
    """
    file = files("zscope.schemas") / "layouts" / f"{common}.toml"
    content = read_toml(file)
    header = _header(file.name, content.get(HEADER, {}), standard_header())
    area = _triplet_area(file.name, content.get("triplets", {}), header)
    if area is None:
        raise DeclarationError(file.name, "triplets", "is missing")
    return area


@cache
def cipher_suites() -> Mapping[str, CipherSuite]:
    """Return the known cipher suites by their hexadecimal number."""
    text = (files("zscope.schemas") / "codes" / "cipher.csv").read_text(encoding="ascii")
    suites = {}
    for row in csv.DictReader(text.splitlines()):
        bits = int(row.pop("key_bits"))
        suites[row["code"]] = CipherSuite(key_bits=bits, **row)
    return suites


def read_toml(file: Traversable) -> dict[str, Any]:
    """Return the content of a declaration file."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise DeclarationError(file.name, "file", f"is not TOML: {error}") from error


def _records(
    file: Traversable, content: dict[str, Any], layouts: Traversable, standard: Section
) -> list[RecordLayout]:
    """The layouts of one file: one for each subtype, equal but for its number."""
    if ("subtype" in content) == ("subtypes" in content):
        raise DeclarationError(file.name, "subtype", "takes either 'subtype' or 'subtypes'")
    subtypes = tuple(int(subtype) for subtype in content.get("subtypes", (content.get("subtype"),)))
    if not subtypes:
        raise DeclarationError(file.name, "subtypes", "is empty")
    record = _record(file, content | {"subtype": subtypes[0]}, layouts, standard)
    return [replace(record, subtype=subtype, subtypes=subtypes) for subtype in subtypes]


def _record(
    file: Traversable, content: dict[str, Any], layouts: Traversable, standard: Section
) -> RecordLayout:
    """One layout with what it inherits: the standard header, and the file that `common` names."""
    family, family_file = {}, file.name
    if common := content.get("common"):
        family_file = f"{common}.toml"
        family = read_toml(layouts / family_file)
    if HEADER not in family and HEADER not in content:
        raise DeclarationError(
            file.name, HEADER, "is missing: declare [header] here or in the file that `common` names"
        )
    header = standard
    for name, declarations in ((family_file, family), (file.name, content)):
        if HEADER in declarations:
            header = _header(name, declarations[HEADER], header)
    sections = [header, *_sections(family_file, family), *_sections(file.name, content)]
    keys: set[str] = set()
    for section in sections:
        if section.key in keys:
            raise DeclarationError(file.name, section.key, "is declared twice")
        keys.add(section.key)
    tables = tuple(_table(file.name, raw, keys) for raw in content.get("table", ()))
    _check_conditions(file.name, sections)
    record = RecordLayout(
        type=int(content["type"]),
        subtype=int(content["subtype"]),
        title=str(content["title"]),
        sections=tuple(sections),
        tables=tables,
        triplets=_triplet_area(file.name, family.get("triplets", {}) | content.get("triplets", {}), header),
        note=str(content.get("note", "")),
        shown_as=str(
            content.get("shown_as") or f"{content['title']} (SMF {content['type']}-{content['subtype']})"
        ),
        header_only=bool(content.get("header_only", False)),
        continued_by=str(family.get("continued_by", content.get("continued_by", ""))),
    )
    if record.continued_by and record.continued_by not in keys:
        raise DeclarationError(
            file.name, "continued_by", f"{record.continued_by!r} is no section of the record"
        )
    _check_places(file.name, record)
    return record


def _header(file: str, raw: dict[str, Any], inherited: Section) -> Section:
    """The header of a family of records: inherited fields under other names, and fields of its own.

    `prefix` takes the place of SMFx, `standard` changes what is declared of single inherited fields, and
    `fields` adds to them.
    """
    raw = dict(raw)
    prefix, changes = raw.pop("prefix", _ANY_PREFIX), raw.pop("standard", {})
    proof = {name: raw.pop(name) for name in ("evidence", "source") if name in raw}
    added = [_field(file, HEADER, proof | entry) for entry in raw.pop("fields", ())]
    names = {field.name: field.name.replace(_ANY_PREFIX, prefix) for field in inherited.fields}
    if unknown := [name for name in changes if name not in names]:
        raise DeclarationError(file, f"{HEADER}.{unknown[0]}", "is no field of the inherited header")
    names |= {name: change["name"] for name, change in changes.items() if "name" in change}
    fields = []
    for field in inherited.fields:
        change = dict(changes.get(field.name, {}))
        for fixed in ("offset", "length", "format", "date"):
            if fixed in change:
                raise DeclarationError(
                    file, f"{HEADER}.{field.name}", f"{fixed!r} is the same in all records"
                )
        change = proof | change | {"name": names[field.name], "date": names.get(field.date, "")}
        try:
            if "evidence" in change:
                change["evidence"] = Evidence(change["evidence"])
            fields.append(replace(field, **change))
        except (TypeError, ValueError) as error:
            raise DeclarationError(file, f"{HEADER}.{field.name}", str(error)) from error
    try:
        return replace(inherited, fields=(*fields, *added), **raw)
    except TypeError as error:
        raise DeclarationError(file, HEADER, str(error)) from error


def _triplet_area(file: str, raw: dict[str, Any], header: Section) -> TripletArea | None:
    """Where the triplets are: `at`, with `count` (a field of the header) or `number`."""
    if not raw:
        return None
    if "places" in raw:
        return _placed_triplets(file, raw, header)
    if unknown := raw.keys() - {"at", "count", "number"}:
        raise DeclarationError(file, "triplets", f"{min(unknown)!r} is not one of at, count, number")
    if "at" not in raw:
        raise DeclarationError(file, "triplets", "'at' is missing")
    if ("count" in raw) == ("number" in raw):
        raise DeclarationError(file, "triplets", "takes either 'count' or 'number'")
    at = int(raw["at"])
    if at < header.known_length:
        raise DeclarationError(
            file, "triplets", f"at {at}, they lie over the header of {header.known_length} bytes"
        )
    if "number" in raw:
        return TripletArea(at, number=int(raw["number"]))
    counts = [field for field in header.fields if field.name == raw["count"]]
    if not counts:
        raise DeclarationError(file, "triplets", f"{raw['count']!r} is no field of the header")
    if counts[0].format is not Format.UINT or counts[0].length != TRIPLET_COUNT_BYTES:
        raise DeclarationError(file, "triplets", f"{raw['count']!r} is not a number of two bytes")
    return TripletArea(at, count_at=counts[0].offset)


def _placed_triplets(file: str, raw: dict[str, Any], header: Section) -> TripletArea:
    """Triplets with other fields between them: `places`, and `least`, how many every record has."""
    if unknown := raw.keys() - {"places", "least"}:
        raise DeclarationError(file, "triplets", f"{min(unknown)!r} is not one of places, least")
    places, least = tuple(int(place) for place in raw["places"]), int(raw.get("least", 1))
    if not 0 < least <= len(places):
        raise DeclarationError(file, "triplets", f"'least' is {least}, but there are {len(places)} places")
    taken = [(field.offset, field.end, field.name) for field in header.fields]
    taken += [(place, place + TRIPLET_BYTES, f"triplet {index}") for index, place in enumerate(places)]
    for before, after in pairwise(sorted(taken)):
        if after[0] < before[1]:
            raise DeclarationError(file, "triplets", f"{after[2]} overlaps {before[2]}")
    if list(places) != sorted(places):
        raise DeclarationError(file, "triplets", "'places' are not in order")
    ends = tuple((header.lengths or {}).values())
    return TripletArea(places[0], number=len(places), places=places, ends=ends, least=least)


def _check_places(file: str, record: RecordLayout) -> None:
    """Every section that makes rows or lends columns to them must have a place in the record."""
    used = {*(join.section for table in record.tables for join in table.joins)}
    used |= {section.key for section in record.row_sections}
    for section in record.sections:
        if section.triplet is None:
            if section.key in used and section.key != HEADER:
                raise DeclarationError(
                    file, section.key, "is used by a table, but has no triplet that locates it"
                )
        elif record.triplets is None:
            raise DeclarationError(
                file, "triplets", f"is missing: section {section.key!r} is located by a triplet"
            )
        elif record.triplets.number is not None and section.triplet >= record.triplets.number:
            problem = f"has triplet {section.triplet}, but there are only {record.triplets.number}"
            raise DeclarationError(file, section.key, problem)


def _check_conditions(file: str, sections: list[Section]) -> None:
    """The field of a condition may be in any section of the record."""
    known = {field.name for section in sections for field in section.fields}
    for section in sections:
        for field in section.fields:
            for condition in (*field.when, *field.unless):
                if condition.field not in known:
                    problem = f"depends on {condition.field!r}, which is not declared"
                    raise DeclarationError(file, f"{section.key}.{field.name}", problem)


def _sections(file: str, content: dict[str, Any]) -> list[Section]:
    return [_section(file, raw) for raw in content.get("section", ())]


def _section(file: str, raw: dict[str, Any]) -> Section:
    raw = dict(raw)
    key = str(raw.get("key", "section without key"))
    defaults = {name: raw.pop(name) for name in ("evidence", "source") if name in raw}
    fields = tuple(_field(file, key, defaults | entry) for entry in raw.pop("fields", ()))
    raw["pointer"] = tuple(raw.get("pointer", ()))
    try:
        section = Section(fields=fields, **raw)
    except TypeError as error:
        raise DeclarationError(file, key, str(error)) from error
    names = {field.name for field in fields}
    for field in fields:
        for partner in (field.date, field.size, field.form):
            if partner and partner not in names:
                raise DeclarationError(
                    file, f"{key}.{field.name}", f"names {partner!r}, which is not declared here"
                )
    return section


def _field(file: str, section: str, raw: dict[str, Any]) -> Field:
    key = f"{section}.{raw.get('name', 'field without name')}"
    raw = dict(raw)
    try:
        raw["format"] = Format(raw["format"])
        raw["evidence"] = Evidence(raw["evidence"])
        for key_of_conditions in ("when", "unless"):
            conditions = raw.get(key_of_conditions, ())
            raw[key_of_conditions] = tuple(Condition(**condition) for condition in conditions)
        raw.setdefault("length", None)
        return Field(**raw)
    except KeyError as error:
        raise DeclarationError(file, key, f"{error.args[0]!r} is missing") from error
    except (TypeError, ValueError) as error:
        raise DeclarationError(file, key, str(error)) from error


def _table(file: str, raw: dict[str, Any], sections: set[str]) -> TableLayout:
    joins = tuple(
        Join(entry["section"], tuple(entry["columns"]) if "columns" in entry else None)
        for entry in raw.get("join", ())
    )
    rows = (raw["rows"],) if isinstance(raw["rows"], str) else tuple(raw["rows"])
    try:
        kind = RowKind(**raw["kind"]) if "kind" in raw else None
        connection = connection_rows(raw["connection"]) if "connection" in raw else None
        running = running_totals(raw["running"]) if "running" in raw else None
    except TypeError as error:
        raise DeclarationError(file, raw["name"], str(error)) from error
    table = TableLayout(
        raw["name"], raw["meaning"], rows, joins, tuple(raw["grain"]), kind, connection, running
    )
    for key in (*rows, *(join.section for join in joins)):
        if key not in sections:
            raise DeclarationError(file, table.name, f"uses section {key!r}, which is not declared")
    if set(kind.texts if kind else rows[:1]) != set(rows):
        raise DeclarationError(file, table.name, "needs one text in `kind` for each section that makes rows")
    return table


def _code_table(file: str, name: str, raw: dict[str, Any]) -> CodeTable:
    kind = str(raw.get("kind", "value"))
    if kind not in {"value", "bits", "text"}:
        raise DeclarationError(file, name, f"kind {kind!r} is not one of value, bits, text")
    masked = tuple(
        MaskedCodes(int(group["mask"]), {int(code, 0): text for code, text in group["codes"].items()})
        for group in raw.get("masked", ())
    )
    codes: dict[int | str, str]
    if kind == "text":
        codes = dict(raw["codes"])
    else:
        codes = {int(code, 0): text for code, text in raw["codes"].items()}
    return CodeTable(name, str(raw["title"]), kind, codes, masked, str(raw.get("note", "")))
