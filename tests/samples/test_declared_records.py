"""Declarations of records: each of them fits its layouts, and a wrong one says what is wrong."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from zscope.samples import Recipe, declaration_files
from zscope.samples.declaration_files import read_declared
from zscope.samples.dump.context import RecordContext
from zscope.samples.dump.declared_records import DeclaredRecords, numbered
from zscope.samples.dump.dump_scenario import DumpScenario
from zscope.samples.dump.record_declaration import read_declaration
from zscope.samples.world.world_scenario import WorldScenario
from zscope.schemas import catalog
from zscope.schemas.errors import DeclarationError

PACKAGE = Path(str(files("zscope.samples")))
DECLARATIONS = sorted(str(path.relative_to(PACKAGE)) for path in PACKAGE.glob("*/records/*.toml"))


@pytest.mark.parametrize("path", DECLARATIONS)
def test_every_column_is_in_a_layout_of_the_declaration(path: str) -> None:
    declared = read_declaration(path)
    for section in declared.section:
        subtypes = section.subtypes or declared.subtypes
        known = {
            field.column
            for subtype in subtypes
            for field in catalog().records[declared.type, subtype].section(section.key).columns
        }
        of_another = 'as_in = "' in (PACKAGE / path).read_text(encoding="utf-8") and section.key != "common"
        assert section.columns.keys() <= known
        assert of_another or section.constants.keys() <= known


def test_there_are_declarations() -> None:
    assert "dump/records/tcp_term.toml" in DECLARATIONS


def declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> str:
    (tmp_path / "one.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(declaration_files, "files", lambda _: tmp_path)
    read_declaration.cache_clear()
    return "one.toml"


FTP = """
type = 119
subtypes = [72]
triplets = 3
subsystem = "TCP"
writer = { component = "FTPS" }
[[section]]
key = "failure"
"""


def test_a_wrong_key_is_named_with_what_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = declared(tmp_path, monkeypatch, FTP + "column = { local_port = 21 }\n")
    with pytest.raises(
        DeclarationError, match=r"one\.toml, line 9: section\[failure\]\.column: .*did you mean columns"
    ):
        read_declaration(path)


def test_a_wrong_name_in_an_expression_is_shown_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = declared(tmp_path, monkeypatch, FTP + 'columns = { local_port = "harbour" }\n')
    records = DeclaredRecords(RecordContext(Recipe()), path, 72)
    with pytest.raises(NameError, match="'harbour'"):
        records.make({"system": np.zeros(2, np.int64)}, np.zeros(2, np.int64))


def test_a_wrong_key_of_a_scenario_is_named_with_what_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = (PACKAGE / "dump/scenario.toml").read_text(encoding="utf-8")
    path = declared(tmp_path, monkeypatch, scenario.replace("kilobytes = 40", "kilobyte = 40", 1))
    expected = (
        r"one\.toml, line \d+: application\[0\]\.kilobyte: is not a valid key; valid: job, user.* kilobytes\?"
    )
    with pytest.raises(DeclarationError, match=expected):
        read_declared(path, DumpScenario)


@pytest.mark.parametrize(
    ("text", "other", "problem"),
    [
        ('role = "client"', 'role = "server"', "system: needs clients, followed by servers"),
        ("kilobytes = 70", "weight = 3", r"service\[\d\]\.weight: is for services with suites"),
    ],
)
def test_a_scenario_that_contradicts_itself_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, other: str, problem: str
) -> None:
    scenario = (PACKAGE / "world/scenario.toml").read_text(encoding="utf-8")
    path = declared(tmp_path, monkeypatch, scenario.replace(text, other, 1))
    with pytest.raises(DeclarationError, match=rf"one\.toml, line \d+: {problem}"):
        read_declared(path, WorldScenario)


def test_records_have_the_declared_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = FTP + 'constants = { local_port = 21 }\ncolumns = { remote_port = "1_000 + 7 * number" }\n'
    records = DeclaredRecords(RecordContext(Recipe()), declared(tmp_path, monkeypatch, text), 72)
    batch = records.make(
        {"system": np.array([0, 1]), "number": np.array([1, 2])}, np.array([1_772_409_600_000_000] * 2)
    )
    section = catalog().records[119, 72].section("failure")
    ports = {one.column: one for one in section.columns if one.column in {"local_port", "remote_port"}}
    begin = len(batch.records[0]) - section.known_length

    def stored(record: bytes, column: str) -> int:
        return int.from_bytes(record[begin + ports[column].offset : begin + ports[column].end], "big")

    assert [stored(record, "remote_port") for record in batch.records] == [1_007, 1_014]
    assert [stored(record, "local_port") for record in batch.records] == [21, 21]
    assert batch.expected.tables == {"smf119_ftp_failure": 2}
    assert batch.expected.types == {"119-72": 2}


def test_numbered_texts_are_in_the_order_of_the_numbers() -> None:
    picked = numbered("A{:02}", np.array([7, 3, 7]))
    assert [picked.values[number] for number in picked.index.tolist()] == ["A07", "A03", "A07"]
