"""Published results, methods and practices: complete, sourced, consistent in themselves, usable in SQL."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from zscope.schemas.arrow import create_table
from zscope.schemas.errors import DeclarationError
from zscope.schemas.published import published_tables, read_published
from zscope.schemas.reference import reference_tables

if TYPE_CHECKING:
    from pathlib import Path

TABLES = published_tables()
RESULTS: list[dict[str, Any]] = TABLES["reference_result"].to_pylist()
METHODS: list[dict[str, Any]] = TABLES["reference_method"].to_pylist()
PRACTICES: list[dict[str, Any]] = TABLES["best_practice"].to_pylist()
BY_ID = {row["id"]: row for row in RESULTS}
FIGURES = ("value", "low", "high", "baseline_value", "candidate_value", "delta")
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def figures_of(row: dict[str, Any]) -> set[float]:
    return {abs(row[name]) for name in FIGURES if row[name] is not None}


def test_all_published_results_methods_and_practices_are_there() -> None:
    assert Counter(row["document"] for row in RESULTS) == {
        "z/OS Communications Server TLS Performance Update": 26,
        "3.2: z/OS Communications Server Performance Summary Report": 53,
        "Shared SSL & InetD Enhancements for Starting TLS Sessions": 6,
        "The impact of TLS ciphers on an MQ for z/OS channel": 21,
        "RSCS TCPNJE Encryption": 20,
    }
    assert Counter(row["kind"] for row in RESULTS) == {
        "qualitative": 61,
        "absolute": 35,
        "percent_change": 18,
        "bound": 12,
    }
    assert (len(RESULTS), len(METHODS), len(PRACTICES)) == (126, 8, 20)


@pytest.mark.parametrize(
    "table", [name for name in TABLES if name not in {"reference_filling", "reference_ratio"}]
)
def test_every_row_has_a_unique_id_and_a_source(table: str) -> None:
    rows = TABLES[table].to_pylist()
    assert [key for key, count in Counter(row["id"] for row in rows).items() if count > 1] == []
    assert [row["id"] for row in rows if not (row["document"] and row["author"] and row["section"])] == []


def test_references_of_rows_exist() -> None:
    methods = {row["id"] for row in METHODS}
    assert {row["method"] for row in RESULTS} - {None} == methods - {"workload-names"}
    named = {key for row in RESULTS for key in row["conflicts_with"]}
    named |= {key for row in PRACTICES for key in row["results"]}
    assert named <= BY_ID.keys()
    assert [row["id"] for row in RESULTS if row["id"] in row["conflicts_with"]] == []
    assert [row["id"] for row in RESULTS if row["conflicts_with"] and not row["conflict"]] == []


@pytest.mark.parametrize("row", RESULTS, ids=lambda row: row["id"])
def test_the_printed_text_and_the_numbers_are_the_same_figures(row: dict[str, Any]) -> None:
    assert {float(number) for number in NUMBER.findall(row["as_printed"])} == figures_of(row)


@pytest.mark.parametrize("row", RESULTS, ids=lambda row: row["id"])
def test_figures_and_kind_of_a_result_agree(row: dict[str, Any]) -> None:
    if figures_of(row):
        assert row["unit"]
        assert row["value_kind"] != "direction"
    else:
        assert row["kind"] == "qualitative"
        assert row["value_kind"] == "direction"
        assert row["direction"] or row["quantifier"]
    assert (row["kind"] == "bound") == (row["low"] is not None or row["high"] is not None)
    if row["value_kind"] == "percent_change":
        assert row["baseline"]
        assert row["unit"] == "pct"
        assert row["direction"] == ("increase" if row["value"] > 0 else "decrease")


@pytest.mark.parametrize("row", [r for r in RESULTS if r["kind"] == "bound"], ids=lambda row: row["id"])
def test_a_bound_is_open_where_nothing_is_printed(row: dict[str, Any]) -> None:
    ends = {
        "range": (row["low"], row["high"]),
        "more than": (row["value"], None),
        "at most": (None, row["value"]),
        # Up to so much less: the figure is the lowest that a change may be.
        "up to": (row["value"], None) if row["direction"] == "decrease" else (None, row["value"]),
    }
    assert (row["low"], row["high"]) == ends[row["quantifier"]]
    assert (row["value"] is None) == (row["quantifier"] == "range")


def test_figures_are_as_published() -> None:
    sample = {
        "tls31-ecdhe-vs-rsa-kx-cpu": ("up to 26 %", 26, None, 26),
        "tls31-resumption-tls12-cpu": ("up to 50 %", -50, -50, None),
        "tls31-sysplex-tickets-hit": ("more than 95 %", 95, 95, None),
        "perf32-icsf-sessionobj-cpu-client": ("1953 %", 1953, None, None),
        "mq-32k-cipher-added": ("188 to 505 us", None, 188, 505),
        "mq-8k-per-negotiation": ("3.6 ms", 3.6, None, None),
        "rscs-t4-etr": ("270 to 332, 62, 23.0 %", 23.0, None, None),
        "ztpf-sharedssl-throughput": ("46 %", 46, None, None),
    }
    printed = {
        key: tuple(BY_ID[key][name] for name in ("as_printed", "value", "low", "high")) for key in sample
    }
    assert printed == sample


def test_percents_are_computed_again_beside_the_printed_ones() -> None:
    again = {row["id"]: row["recomputed_pct"] for row in RESULTS if row["recomputed_pct"] is not None}
    assert len(again) == 22
    assert again["mq-8k-ecdhe-rsa-rt"] == 8.71
    assert again["ztpf-inetd-ecb-seconds"] == -99.6
    matches = Counter(row["recomputed_matches"] for row in RESULTS)
    assert (matches[True], matches[False]) == (13, 2)
    assert [row["id"] for row in RESULTS if row["recomputed_matches"] is False] == [
        "mq-32k-vs-8k-negotiation",
        "rscs-t2-combined",
    ]
    # Exactly half way: 6.25 is printed as 6.3.
    assert (again["rscs-t4-ssl"], BY_ID["rscs-t4-ssl"]["value"]) == (6.25, 6.3)
    assert BY_ID["rscs-t2-ssl"]["baseline_value"] == 0
    assert "rscs-t2-ssl" not in again


def test_rounding_is_carried_to_changes_between_printed_values() -> None:
    # 2400 to 2600 ECBs for 19.5 to 20.5 s, against 50 to 150 ECBs for 1.5 to 2.5 s.
    row = BY_ID["ztpf-inetd-ecb-seconds"]
    assert row["recomputed_low"] == pytest.approx(100 * (75 / 53300 - 1))
    assert row["recomputed_high"] == pytest.approx(100 * (375 / 46800 - 1))
    # 7.15 to 7.25 ms and 5.95 to 6.05 ms: 6.0 has one decimal.
    row = BY_ID["mq-32k-vs-8k-negotiation"]
    assert row["recomputed_low"] == pytest.approx(100 * (5.95 / 7.25 - 1))
    assert row["recomputed_high"] == pytest.approx(100 * (6.05 / 7.15 - 1))
    assert {
        name: BY_ID[name]["rounding"] for name in ("tls31-network-share", "mq-8k-interval", "rscs-t3-ssl")
    } == {
        "tls31-network-share": 1,
        "mq-8k-interval": 1,
        "rscs-t3-ssl": 0.05,
    }
    for row in RESULTS:
        if row["recomputed_pct"] is not None:
            assert row["recomputed_low"] - 0.01 <= row["recomputed_pct"] <= row["recomputed_high"] + 0.01, (
                row["id"]
            )


def test_ratios_are_of_results_with_one_unit() -> None:
    ratios = {row["id"]: row for row in TABLES["reference_ratio"].to_pylist()}
    row = ratios["mq-negotiation-ecdhe-rsa-to-rsa"]
    assert (row["value"], row["low"], row["high"]) == pytest.approx((10 / 6, 9.5 / 6.5, 10.5 / 5.5))
    # 59 us of a round trip against 3.6 ms.
    assert ratios["mq-8k-message-to-negotiation"]["value"] == pytest.approx(0.059 / 3.6)
    assert ratios["tls-coprocessor-to-accelerator-dhe"]["value"] == pytest.approx(0.47)
    # Pictures have no place for more.
    assert max(len(row["title"]) for row in ratios.values()) < 40


def test_results_are_in_the_order_of_their_documents() -> None:
    assert [row["place"] for row in RESULTS] == [*range(1, 127)]


def test_computed_values_are_marked() -> None:
    assert [row["id"] for row in RESULTS if row["derived"]] == ["ztpf-inetd-ecb-seconds"]


def test_tags_distinguish_the_two_runs() -> None:
    def keys(tags: list[str]) -> list[str]:
        return [tag.split("=", 1)[0] for tag in tags]

    for row in RESULTS:
        for column in ("baseline_tags", "candidate_tags", "condition_tags", "environment"):
            assert len(set(keys(row[column]))) == len(row[column]), row["id"]
        if row["baseline_tags"]:
            assert row["baseline_tags"] != row["candidate_tags"], row["id"]
            both = {*keys(row["baseline_tags"]), *keys(row["candidate_tags"])}
            assert not both & set(keys(row["condition_tags"])), row["id"]


def test_a_system_inherits_from_the_one_it_is_like() -> None:
    measured_on = BY_ID["tls31-fips-accel-cpu"]["environment"]
    assert "cpc=z16 (A01, 3931)" in measured_on
    assert measured_on[-2:] == ["client_authentication=off", "fips=on"]


@pytest.mark.parametrize(
    "method",
    [
        "rmf-cpu-per-tran",
        "rscs-etr",
        "mq-negotiation",
        "mq-cipher-overhead",
        "ztpf-throughput",
        "ztpf-ecb-seconds",
    ],
)
def test_worked_examples_follow_from_the_formulas(method: str) -> None:
    row = next(row for row in METHODS if row["id"] == method)
    for example in json.loads(row["worked"]):
        known = dict(example["given"])
        for step in row["formula"]:
            name, expression = step.split(" = ", 1)
            operands = set(re.findall(r"(?<!\w)[A-Za-z_]\w*", expression))
            if operands <= known.keys():
                known[name] = eval(expression, {}, known)  # our own data: names, numbers and operators
        if example.get("name") != "unit, derived":  # that one goes the other way
            for name, value in example["gives"].items():
                assert known[name] == pytest.approx(value, rel=1e-3), name


def test_every_method_has_worked_numbers() -> None:
    for row in METHODS:
        for example in json.loads(row["worked"]):
            assert example.keys() <= {"name", "given", "gives", "printed"}
            assert "gives" in example or "printed" in example
            assert ("given" in example) == ("gives" in example)


@pytest.mark.parametrize("table", TABLES)
def test_sentences_are_short(table: str) -> None:
    for row in TABLES[table].to_pylist():
        for column in ("note", "conflict", "purpose", "effect", "observe_note"):
            for sentence in re.split(r"(?<=[.;:]) ", row.get(column) or ""):
                assert len(sentence.split()) <= 25, (row["id"], sentence)


@pytest.mark.parametrize("table", TABLES)
def test_the_store_can_hold_and_explain_the_table(table: str) -> None:
    rows = reference_tables()[table]
    with duckdb.connect() as connection:
        for statement in create_table(table, rows.schema):
            connection.execute(statement)
        connection.register("rows_to_copy", rows)
        connection.execute(f"INSERT INTO {table} SELECT * FROM rows_to_copy")
        # No name needs quotes.
        printed = connection.execute(f"SELECT {', '.join(rows.schema.names)} FROM {table}").to_arrow_table()
        untold = "SELECT column_name FROM duckdb_columns() WHERE table_name = ? AND comment IS NULL"
        assert connection.execute(untold, [table]).fetchall() == []
    assert printed.to_pylist() == rows.to_pylist()


def test_results_can_be_chosen_by_tags_in_sql() -> None:
    with duckdb.connect() as connection:
        connection.register("reference_result", TABLES["reference_result"])
        printed = connection.execute(
            "SELECT id FROM reference_result WHERE metric = 'cpu_per_tran' AND value IS NOT NULL "
            "AND list_has_all(condition_tags, ['fips=on']) AND list_contains(workload_kinds, 'CRR')"
        ).fetchall()
    assert printed == [("tls31-fips-accel-cpu",)]


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        (
            "results_mq.toml",
            "value = 437, ",
            "recomputed_pct = 8.71, ",
            "rt].recomputed_pct: is not a valid key",
        ),
        ("results_mq.toml", "value = 3.6, ", "", "[mq-8k-per-negotiation]: has no figure and is not"),
        ("results_mq.toml", "baseline_value = 402, ", "", "[mq-8k-ecdhe-rsa-rt]: has only one of"),
        ("results_mq.toml", "low = 35", "low = 45", "[mq-8k-cipher-added]: low is above high"),
        ("results_mq.toml", 'unit = "CPU us", ', "", "[mq-8k-cpu-added]: has a figure without a unit"),
        ("results_mq.toml", ', level_unit = "ms"', "", "negotiation]: has values without a level_unit"),
        (
            "results_mq.toml",
            '"mq-8k-interval"',
            '"mq-8k-ecdhe-rsa-rt"',
            "ecdhe-rsa-rt].id: is declared twice",
        ),
        (
            "results_mq.toml",
            'side = "sender"',
            'side = "left"',
            'sends-8k].side: expected "both", "client", ',
        ),
        ("results_mq.toml", '"mq-32k-cipher-added"]', '"mq-64k"]', "conflicts_with names 'mq-64k', which"),
        ("ratios.toml", '"mq-table-ecdhe-rsa"', '"mq-table"', "of names 'mq-table', which is not declared"),
        (
            "results_ztpf.toml",
            '["ztpf-inetd-peak-ecbs", ',
            '["ztpf-peak", ',
            "product_of names 'ztpf-peak', which",
        ),
        ("results_mq.toml", '"mq-z14"', '"mq-z15"', "environment 'mq-z15' is not declared"),
        ("results_mq.toml", '"mq-negotiation"', '"mq"', "method names 'mq', which is not declared"),
        ("results_mq.toml", 'document = "mq"', 'document = "qm"', "document 'qm' is not declared"),
        (
            "environments.toml",
            'like = "ztpf"',
            'like = "zvse"',
            "line 127: ztpf-z16.like: is like 'zvse', which",
        ),
        ("practices.toml", '"published"', '"known"', 'observe_status: expected "published" or'),
        (
            "practices.toml",
            '"perf32-zhpf"',
            '"zhpf"',
            "practice[zhpf].results: results names 'zhpf', which is not declared",
        ),
    ],
)
def test_reports_what_is_wrong(tmp_path: Path, file: str, old: str, new: str, problem: str) -> None:
    assert_refused(tmp_path, file, old, new, problem)


def assert_refused(tmp_path: Path, file: str, old: str, new: str, problem: str) -> None:
    """Read the published results with a change in a file, and expect a problem."""
    folder = tmp_path / "published"
    shutil.copytree(str(files("zscope.schemas") / "published"), folder)
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DeclarationError, match=re.escape(problem)) as caught:
        read_published(folder)
    assert caught.value.file == file


def test_a_column_with_another_unit_names_it() -> None:
    schema = TABLES["reference_result"].schema
    assert schema.field("recomputed_pct").metadata[b"unit"] == b"pct"
