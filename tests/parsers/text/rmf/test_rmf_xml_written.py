"""RMF XML written from rows is read back as those rows, and never as others, whatever the damage."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parsers.damaging import (
    Spoiler,
    doubled,
    followed_by,
    in_capitals,
    lost,
    on_some,
    shifted,
    wrapped,
)
from tests.parsers.text.rmf.crypto_rows import CARDS

from zscope.parsers.issues import Code, Issues
from zscope.parsers.text.report_rows import FileRows
from zscope.parsers.text.rmf.xml import RmfXml
from zscope.parsers.text.rmf.xml_write import rmf_xml

Row = dict[str, Any]
TABLES = ("rmf_interval", "rmf_cpu", "rmf_partition", "rmf_crypto")
MADE_BY_READING = {"file", "line_no", "source", "system_from", "time_from", "extra"}
START = datetime(2026, 2, 28, 23, 45)  # noqa: DTZ001 - a local time that no zone has

percent = st.integers(0, 10_000).map(lambda n: n / 100)
tenths = st.integers(0, 1_000).map(lambda n: n / 10)
count = st.integers(0, 60_000)
names = st.from_regex(r"[A-Z0-9@#$]{1,8}", fullmatch=True).filter(lambda name: name not in {"TOTAL", "NA"})
words = st.from_regex(r"[A-Z]{2,8}", fullmatch=True).filter(lambda word: word not in {"TOTAL", "DED"})


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


INTERVAL = {
    "interval_ms": st.integers(1, 99 * 60_000),
    "cycle_length_ms": maybe(st.integers(1, 9_999)),
    "zos_level": maybe(st.sampled_from(["V2R3", "V2R5", "3.2"])),
    "report_level": maybe(st.sampled_from(["V2R4", "3.1"])),
    "machine_type": maybe(st.from_regex(r"\d{4}", fullmatch=True)),
    "capacity_model": maybe(words),
    "hiperdispatch": maybe(st.sampled_from(["YES", "NO"])),
    "capacity_rating_msu_per_hour": maybe(count),
    "partition_name": maybe(names),
    "configured_partitions": maybe(count),
    "wait_completion": maybe(st.booleans()),
    "dispatch_interval": maybe(st.sampled_from(["DYNAMIC", "12"])),
    "capacity_group_name": maybe(names),
    "absolute_msu_capping": maybe(st.booleans()),
    "physical_cpus": maybe(count),
    "physical_cps": maybe(count),
    "physical_ifls": maybe(count),
}
FIGURES_OF_CPU = {
    "lpar_busy_pct": maybe(percent),
    "mvs_busy_pct": maybe(percent),
    "share_pct": maybe(tenths),
    "io_interrupt_rate": maybe(percent),
    "tpi_pct": maybe(percent),
}
PROCESSOR = FIGURES_OF_CPU | {
    "row_kind": st.just("processor"),
    "cpu_id": st.integers(0, 0xFFF),
    "thread": st.just(0),
    "cpu_type_name": st.sampled_from(["CP", "AAP", "IIP"]),
    "online_pct": percent,
    "parked_pct": maybe(percent),
    "priority": maybe(st.sampled_from(["HIGH", "MED", "LOW"])),
}
TOTAL_OF_CPUS = FIGURES_OF_CPU | {"row_kind": st.just("total"), "cpu_type_name": words}
TIMES = {
    "dispatch_ms": maybe(st.integers(0, 99 * 3_600_000)),
    "physical_management_pct": maybe(percent),
    "physical_total_pct": maybe(percent),
}
PARTITION = TIMES | {
    "row_kind": st.just("partition"),
    "partition_name": names,
    "partition_status": st.just("active"),
    "boost_type": maybe(st.just("None")),
    "weight": st.integers(0, 999),
    "dedicated": st.just(False),
    "defined_capacity_msu": maybe(count),
    "actual_msu_per_hour": maybe(count),
    "capping": maybe(st.sampled_from(["N N N", "Y N Y", "NO"])),
    "wlm_capping_pct": maybe(tenths),
    "logical_cpus": maybe(st.sampled_from([1.0, 2.0, 3.5, 17.0])),
    "cpu_type_name": words,
    "effective_ms": maybe(st.integers(0, 99 * 3_600_000)),
    "logical_effective_pct": maybe(percent),
    "physical_effective_pct": maybe(percent),
}
DEDICATED = PARTITION | {"weight": st.none(), "dedicated": st.just(True)}
DEACTIVATED = {
    "row_kind": st.just("partition"),
    "partition_name": names,
    "partition_status": st.just("deactivated"),
}
PHYSICAL = TIMES | {
    "row_kind": st.just("physical"),
    "partition_name": st.just("*PHYSICAL*"),
    "cpu_type_name": words,
}
TOTAL = PHYSICAL | {
    "row_kind": st.just("total"),
    "partition_name": st.just("TOTAL"),
    "weight": maybe(st.integers(0, 9_999)),
}


def rows(*kinds: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[list[Row]]:
    return st.lists(st.one_of(*map(st.fixed_dictionaries, kinds)), min_size=1, max_size=6)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, list[Row]]:
    """Rows of some intervals, as the reader returns them."""
    made: dict[str, list[Row]] = {"rmf_interval": [], "rmf_cpu": [], "rmf_partition": []}
    for number in range(draw(st.integers(1, 3))):
        start = START + timedelta(minutes=15 * number)
        lead = {"system": draw(names), "interval_start_local": start}
        interval = lead | draw(st.fixed_dictionaries(INTERVAL))
        lead["interval_ms"] = interval["interval_ms"]
        made["rmf_interval"].append(interval | {"interval_end_local": start + timedelta(minutes=15)})
        made["rmf_cpu"] += [lead | row for row in draw(rows(PROCESSOR, TOTAL_OF_CPUS))]
        kinds = (PARTITION, DEDICATED, DEACTIVATED, PHYSICAL, TOTAL)
        made["rmf_partition"] += [lead | row for row in draw(rows(*kinds))]
    return made


def written(made: dict[str, list[Row]], *, on_few_lines: bool = False) -> str:
    reports = (made[table] for table in TABLES[:3])
    return rmf_xml(*reports, on_few_lines=on_few_lines)


def read(document: str | bytes) -> tuple[dict[str, list[Row]], list[Code]]:
    data = document.encode() if isinstance(document, str) else document
    sheet = FileRows(dict.fromkeys(TABLES), Issues(), "cpu.xml")
    list(RmfXml(sheet).read(iter([data])))
    result = {table: batch.to_pylist() for table, batch in sheet.remaining_batches()}
    return result, [issue.code for issue in sheet.issues]


def plain(result: list[Row]) -> list[Row]:
    """Return the rows without null values and without the columns that reading adds."""
    return [{k: v for k, v in row.items() if v is not None and k not in MADE_BY_READING} for row in result]


@given(documents(), st.booleans())
def test_rows_come_back(made: dict[str, list[Row]], on_few_lines: bool) -> None:
    result, codes = read(written(made, on_few_lines=on_few_lines))
    # The figures are random: they need not agree.
    assert set(codes) <= {Code.ARITHMETIC, Code.COUNT_DIFFERS}
    assert {table: plain(of_table) for table, of_table in result.items()} == {
        table: plain(expected) for table, expected in made.items() if expected
    }


def test_threads_come_back() -> None:
    lead = {"system": "PRDA", "interval_start_local": START, "interval_ms": 900_000}
    core = lead | {
        "row_kind": "processor",
        "cpu_id": 10,
        "thread": 0,
        "cpu_type_name": "IIP",
        "online_pct": 100.0,
        "lpar_busy_pct": 50.0,
        "mvs_busy_pct": 40.0,
        "parked_pct": 0.0,
        "mt_productivity_pct": 80.0,
        "mt_utilisation_pct": 40.0,
    }
    thread = lead | {
        "row_kind": "thread",
        "cpu_id": 10,
        "thread": 1,
        "cpu_type_name": "IIP",
        "mvs_busy_pct": 20.0,
        "parked_pct": 0.0,
    }
    total = lead | {
        "row_kind": "total",
        "cpu_type_name": "IIP",
        "lpar_busy_pct": 50.0,
        "mvs_busy_pct": 30.0,
        "mt_productivity_pct": 80.0,
        "mt_utilisation_pct": 40.0,
    }
    result, codes = read(rmf_xml([lead], [core, thread, total]))
    assert codes == []
    assert plain(result["rmf_cpu"]) == [core, thread, total]


def test_lines_of_a_document() -> None:
    lead = {"system": "PRDA", "interval_start_local": START, "interval_ms": 900_000}
    few = rmf_xml([lead] * 3, on_few_lines=True).splitlines()
    assert max(map(len, few)) <= 250
    assert sum(map(len, few[2:-1])) / len(few[2:-1]) > 200
    assert all(line.endswith(">") for line in few)
    assert len(rmf_xml([lead] * 3).splitlines()) > 3 * len(few)


FUNCTIONS: list[Row] = [
    {
        "unit_kind": "pkcs11",
        "card_type_name": "CEX8P",
        "card_id": "2",
        "operation": operation,
        "operation_rate": 3.5,
        "execution_ms": 1.5,
        "utilisation_pct": 0.5,
    }
    for operation in ("total", "ASYM FAST", "SYMM PARTIAL")
]
SERVICES: list[Row] = [
    {"unit_kind": "icsf", "operation": name, "service": name, "operation_rate": rate} | size
    for name, rate, size in (
        ("ENCRYPTION AES", 9.5, {"average_size_bytes": 512.0}),
        ("RSA DSIG VERIFY", 4.5, {}),
    )
]


def test_crypto_comes_back() -> None:
    lead = {"system": "PRDA", "interval_start_local": START, "interval_ms": 900_000}
    made = [lead | row for row in (*CARDS, *FUNCTIONS, *SERVICES)]
    result, codes = read(rmf_xml([lead], crypto=made))
    assert codes == []
    assert plain(result["rmf_crypto"]) == made


def test_scopes_of_crypto_columns_are_in_parentheses() -> None:
    """The headings of real documents."""
    lead = {"system": "PRDA", "interval_start_local": START, "interval_ms": 900_000}
    document = rmf_xml([lead], crypto=[lead | row for row in (*CARDS, *SERVICES)])
    for heading in (
        *("Total Rate (LPAR)", "Total Exec Time (LPAR)", "Total Util % (LPAR)", "Key-Gen Rate (LPAR)"),
        *("Total Rate (CPC)", "Total Exec Time (CPC)", "Total Util % (CPC)", "Key-Gen Rate (CPC)"),
        *("ICSF Service", "Rate", "Size"),
    ):
        assert f">{heading}</col>" in document
    result, codes = read(document)
    assert codes == []
    assert [
        (row["unit_kind"], row["crypto_scope_name"], row["operation"], row["service"])
        for row in result["rmf_crypto"]
    ] == [
        ("cca", "LPAR", "total", None),
        ("cca", "CPC", "total", None),
        ("cca", "LPAR", "total", None),
        ("cca", "CPC", "total", None),
        ("icsf", None, "ENCRYPTION AES", "ENCRYPTION AES"),
        ("icsf", None, "RSA DSIG VERIFY", "RSA DSIG VERIFY"),
    ]


def test_other_words_in_parentheses_are_of_the_operation() -> None:
    lead = {"system": "PRDA", "interval_start_local": START, "interval_ms": 900_000}
    document = rmf_xml([lead], crypto=[lead | CARDS[0]]).replace(
        "Total Rate (LPAR)", "CRT Rate (2048) (LPAR)"
    )
    result, _ = read(document)
    assert {
        (row["operation"], row["operation_rate"], row["crypto_scope_name"]) for row in result["rmf_crypto"]
    } == {
        ("CRT 2048", 12.25, "LPAR"),
        ("total", None, "LPAR"),
    }


def test_a_line_of_icsf_without_a_service_is_reported() -> None:
    lead = {"system": "PRDA", "interval_start_local": START, "interval_ms": 900_000}
    document = rmf_xml([lead], crypto=[lead | row for row in SERVICES]).replace(
        "ICSF Service", "ICSF Workload"
    )
    result, codes = read(document)
    assert codes == [Code.UNKNOWN_COLUMN, Code.BAD_VALUE, Code.BAD_VALUE]
    assert [(row["operation"], row["service"], row["extra"]) for row in result["rmf_crypto"]] == [
        (None, None, '{"ICSF Workload": "ENCRYPTION AES"}'),
        (None, None, '{"ICSF Workload": "RSA DSIG VERIFY"}'),
    ]


def test_unknown_crypto_columns_go_into_extra() -> None:
    lead = {"system": "PRDA", "interval_start_local": START, "interval_ms": 900_000}
    document = rmf_xml([lead], crypto=[lead | SERVICES[0]]).replace(">Size<", ">Temper<")
    result, _ = read(document)
    (row,) = result["rmf_crypto"]
    assert (row["average_size_bytes"], row["extra"]) == (None, '{"Temper": "512.00"}')


SPOILERS: dict[str, Spoiler] = {
    "some lost": on_some(0.02, lost),
    "wrapped": lambda lines, _: wrapped(lines, 80),
    "some shifted": on_some(0.1, shifted(1, 1)),
    "interrupted": on_some(0.05, followed_by("", "$ ", "")),
    "in capitals": on_some(1, in_capitals),
    "all cut": on_some(1, lambda line, luck: [line[: luck.randrange(200)]]),
    "some doubled": on_some(0.02, doubled),
}


@pytest.mark.deep
@pytest.mark.parametrize("spoiler", SPOILERS)
@given(documents(), st.integers(0, 1 << 32), st.booleans())
@settings(deadline=None, max_examples=10)
def test_no_damage_makes_other_figures(
    spoiler: str, made: dict[str, list[Row]], seed: int, on_few_lines: bool
) -> None:
    lines = written(made, on_few_lines=on_few_lines).splitlines()
    document = "\n".join(SPOILERS[spoiler](lines, random.Random(seed)))
    result, codes = read(document)
    problems = bool(codes)
    for table in ("rmf_cpu", "rmf_partition"):
        expected = [set(row.items()) for row in plain(made[table])]
        for row in plain(result.get(table, [])):
            sound = set(row.items()) - {("row_kind", row["row_kind"])}
            assert problems or any(sound <= one for one in expected)


@given(st.binary(max_size=2_000))
def test_any_bytes_at_all(data: bytes) -> None:
    read(b"<ddsml><postprocessor>" + data)
    read(data)
