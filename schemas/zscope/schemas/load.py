"""Read the layout and code files into the model, and say exactly what is wrong with one that is not right."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from zscope.schemas.model import (
    CodeTable,
    Condition,
    Evidence,
    Field,
    Format,
    Join,
    MaskedCodes,
    RecordLayout,
    RowKind,
    Section,
    TableLayout,
)


class LayoutError(Exception):
    """A declaration that cannot be used: which file, which entry, what is wrong."""

    def __init__(self, file: str, key: str, problem: str) -> None:
        super().__init__(f"{file}: {key}: {problem}")
        self.file = file
        self.key = key
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Source:
    """Where a fact about a layout was read."""

    key: str
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class CipherSuite:
    """One cipher suite by its number on the wire."""

    code: str
    """Four hexadecimal digits, or six for the kinds of SSLv2."""
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


@dataclass(frozen=True, slots=True)
class Catalog:
    """Everything declared, ready to look up."""

    header: Section
    """The standard header of every SMF record."""
    records: Mapping[tuple[int, int], RecordLayout]
    codes: Mapping[str, CodeTable]
    sources: Mapping[str, Source]

    def tables(self) -> Iterator[tuple[RecordLayout, TableLayout]]:
        """Every table with the record it comes from, in the order of the files."""
        for record in self.records.values():
            for table in record.tables:
                yield record, table

    def table(self, name: str) -> tuple[RecordLayout, TableLayout]:
        """The table of this name."""
        for record, table in self.tables():
            if table.name == name:
                return record, table
        raise KeyError(name)


@cache
def catalog() -> Catalog:
    """All declarations of this installation, read once."""
    return read_catalog(files("zscope.schemas"))


def read_catalog(folder: Traversable) -> Catalog:
    """Read every declaration below a folder (`layouts`, `codes`)."""
    layouts = folder / "layouts"
    sources = {
        key: Source(key, str(entry["title"]), str(entry.get("url", "")))
        for key, entry in read_toml(layouts / "sources.toml").items()
    }
    header_file = layouts / "smf_header.toml"
    (header,) = _sections(header_file.name, read_toml(header_file))
    records: dict[tuple[int, int], RecordLayout] = {}
    for file in sorted(layouts.iterdir(), key=lambda f: f.name):
        content = read_toml(file) if file.name.endswith(".toml") else {}
        if "subtype" in content:
            record = _record(file, content, layouts)
            records[record.type, record.subtype] = record
    codes: dict[str, CodeTable] = {}
    for file in sorted((folder / "codes").iterdir(), key=lambda f: f.name):
        if file.name.endswith(".toml"):
            codes.update((name, _code_table(file.name, name, raw)) for name, raw in read_toml(file).items())
    names: dict[int | str, str] = {suite.code: suite.name for suite in cipher_suites().values()}
    codes["cipher"] = CodeTable("cipher", "Cipher suite", "text", names)
    return Catalog(header, records, codes, sources)


@cache
def cipher_suites() -> Mapping[str, CipherSuite]:
    """The known cipher suites by their hexadecimal number."""
    text = (files("zscope.schemas") / "codes" / "cipher.csv").read_text(encoding="ascii")
    suites = {}
    for row in csv.DictReader(text.splitlines()):
        bits = int(row.pop("key_bits"))
        suites[row["code"]] = CipherSuite(key_bits=bits, **row)
    return suites


def read_toml(file: Traversable) -> dict[str, Any]:
    """The content of a declaration file."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise LayoutError(file.name, "file", f"is not TOML: {error}") from error


def _record(file: Traversable, content: dict[str, Any], layouts: Traversable) -> RecordLayout:
    sections: list[Section] = []
    if common := content.get("common"):
        sections += _sections(f"{common}.toml", read_toml(layouts / f"{common}.toml"))
    sections += _sections(file.name, content)
    keys = {section.key for section in sections}
    tables = tuple(_table(file.name, raw, keys) for raw in content.get("table", ()))
    _check_conditions(file.name, sections)
    return RecordLayout(
        type=int(content["type"]),
        subtype=int(content["subtype"]),
        title=str(content["title"]),
        sections=tuple(sections),
        tables=tables,
        triplets=content.get("triplets"),
        note=str(content.get("note", "")),
    )


def _check_conditions(file: str, sections: list[Section]) -> None:
    """What decides whether a field is there may be in any section of the record."""
    known = {field.name for section in sections for field in section.fields}
    for section in sections:
        for field in section.fields:
            for condition in field.when:
                if condition.field not in known:
                    problem = f"depends on {condition.field!r}, which is not declared"
                    raise LayoutError(file, f"{section.key}.{field.name}", problem)


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
        raise LayoutError(file, key, str(error)) from error
    names = {field.name for field in fields}
    for field in fields:
        for partner in (field.date, field.size, field.form):
            if partner and partner not in names:
                raise LayoutError(
                    file, f"{key}.{field.name}", f"names {partner!r}, which is not declared here"
                )
    return section


def _field(file: str, section: str, raw: dict[str, Any]) -> Field:
    key = f"{section}.{raw.get('name', 'field without name')}"
    raw = dict(raw)
    try:
        raw["format"] = Format(raw["format"])
        raw["evidence"] = Evidence(raw["evidence"])
        raw["when"] = tuple(Condition(**condition) for condition in raw.get("when", ()))
        raw.setdefault("length", None)
        return Field(**raw)
    except KeyError as error:
        raise LayoutError(file, key, f"{error.args[0]!r} is missing") from error
    except (TypeError, ValueError) as error:
        raise LayoutError(file, key, str(error)) from error


def _table(file: str, raw: dict[str, Any], sections: set[str]) -> TableLayout:
    joins = tuple(
        Join(entry["section"], tuple(entry["columns"]) if "columns" in entry else None)
        for entry in raw.get("join", ())
    )
    rows = (raw["rows"],) if isinstance(raw["rows"], str) else tuple(raw["rows"])
    try:
        kind = RowKind(**raw["kind"]) if "kind" in raw else None
    except TypeError as error:
        raise LayoutError(file, raw["name"], str(error)) from error
    table = TableLayout(raw["name"], raw["meaning"], rows, joins, tuple(raw["grain"]), kind)
    for key in (*rows, *(join.section for join in joins)):
        if key not in sections:
            raise LayoutError(file, table.name, f"uses section {key!r}, which is not declared")
    if set(kind.texts if kind else rows[:1]) != set(rows):
        raise LayoutError(file, table.name, "does not say by a text for each which section a row is of")
    return table


def _code_table(file: str, name: str, raw: dict[str, Any]) -> CodeTable:
    kind = str(raw.get("kind", "value"))
    if kind not in {"value", "bits", "text"}:
        raise LayoutError(file, name, f"kind {kind!r} is none of value, bits, text")
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
