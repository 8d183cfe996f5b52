"""Loading declarations: errors name file and key, and steps come before the metrics that read them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from zscope.pipelines.metrics import Metric, declared, metric_names, needed, settable
from zscope.pipelines.metrics.declarations import load
from zscope.schemas.errors import DeclarationError
from zscope.schemas.reference import reference_tables
from zscope.schemas.stored import stored_schema

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """\
kind = "metric"
title = "T"
question = "Q?"
inputs = ["smf119_tcp_term"]
grain = ["system"]
"""
SYSTEM = '{ name = "system", type = "VARCHAR", dimension = true, meaning = "System." }'
COUNT = '{ name = "ended", type = "BIGINT", combine = "sum", meaning = "Connections." }'
SQL = "-- Connections of a system.\nSELECT system, 1::BIGINT AS ended FROM smf119_tcp_term\n"


def columns(*entries: str) -> str:
    return f"columns = [{', '.join(entries)}]\n"


def write(folder: Path, name: str, declaration: str, sql: str | None = SQL) -> None:
    (folder / f"{name}.toml").write_text(declaration, encoding="utf-8")
    if sql is not None:
        (folder / f"{name}.sql").write_text(sql, encoding="utf-8")


def only(folder: Path, declaration: str, sql: str | None = SQL) -> Metric:
    write(folder, "m", declaration, sql)
    return load(folder)["m"]


def test_a_declaration_is_read(tmp_path: Path) -> None:
    found = only(tmp_path, HEAD + columns(SYSTEM, COUNT))
    assert found.combinable
    assert found.meaning == "Connections of a system."
    assert [column.name for column in found.view_columns] == ["system", "ended"]


@pytest.mark.parametrize(
    ("declaration", "problem"),
    [
        ("kind = ", "m.toml: "),
        (HEAD.replace('title = "T"\n', "") + columns(SYSTEM), "title: is missing; expected a text"),
        (HEAD + 'tilte = "x"\n' + columns(SYSTEM), "line 6: tilte: is not a valid key; valid: kind, .*title"),
        (
            HEAD.replace('"metric"', '"measure"') + columns(SYSTEM),
            "line 1: kind: expected \"metric\" or \"step\", got 'measure'",
        ),
        (HEAD + columns(SYSTEM, SYSTEM), "column system is declared twice"),
        (HEAD.replace('["system"]', '["job"]') + columns(SYSTEM), "grain: no column job"),
        (HEAD + 'clock = "ended"\n' + columns(SYSTEM, COUNT), "clock: no column ended of type TIMESTAMP"),
        (
            HEAD + columns(SYSTEM, COUNT.replace('"sum"', '"mean"')),
            r"ended\].combine: expected .sum., .min., .max. or .most_frequent., got 'mean'",
        ),
        (
            HEAD + columns(SYSTEM, COUNT.replace(" }", ', from = "1" }')),
            "column ended: only one of dimension, combine, from",
        ),
        (
            HEAD
            + columns(
                SYSTEM,
                COUNT.replace('combine = "sum", ', ""),
                COUNT.replace("ended", "x").replace('combine = "sum"', 'from = "1"'),
            ),
            "only if all columns can be combined",
        ),
        (HEAD.replace('["system"]', '["ended"]') + columns(SYSTEM, COUNT), "grain of a combinable metric"),
        (HEAD + columns('{ inherit = ["nothing"] }'), "column nothing: no input has a column to inherit"),
        (
            HEAD + columns('{ inherit = ["system"], type = "VARCHAR" }'),
            r"columns\[0\].type: is not a valid key; valid: inherit, dimension",
        ),
    ],
)  # fmt: skip
def test_an_invalid_declaration_is_refused(tmp_path: Path, declaration: str, problem: str) -> None:
    with pytest.raises(DeclarationError, match=problem) as raised:
        only(tmp_path, declaration)
    assert str(raised.value).startswith("m.toml")


def test_a_declaration_without_sql_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match=r"there is no m\.sql next to it"):
        only(tmp_path, HEAD + columns(SYSTEM), sql=None)


def test_sql_without_the_meaning_of_a_row_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match="does not begin with the meaning of a row"):
        only(tmp_path, HEAD + columns(SYSTEM), sql="SELECT 1")


def test_steps_come_before_what_reads_them(tmp_path: Path) -> None:
    write(tmp_path, "a", HEAD.replace("smf119_tcp_term", "z") + columns(SYSTEM))
    write(tmp_path, "z", HEAD + columns(SYSTEM))
    assert list(load(tmp_path)) == ["z", "a"]


def test_metrics_that_read_each_other_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "a", HEAD.replace("smf119_tcp_term", "z") + columns(SYSTEM))
    write(tmp_path, "z", HEAD.replace("smf119_tcp_term", "a") + columns(SYSTEM))
    with pytest.raises(DeclarationError, match="reads itself through others: "):
        load(tmp_path)


def test_columns_of_an_input_are_inherited_by_name(tmp_path: Path) -> None:
    write(tmp_path, "z", HEAD + columns(SYSTEM, COUNT))
    passed_on = columns('{ inherit = ["ended", "system"] }')
    write(tmp_path, "a", HEAD.replace("smf119_tcp_term", "z") + passed_on)
    loaded = load(tmp_path)
    assert loaded["a"].columns == (loaded["z"].columns[1], loaded["z"].columns[0])


def test_columns_of_a_table_are_inherited_with_another_use(tmp_path: Path) -> None:
    declaration = HEAD + columns('{ inherit = ["system"], dimension = true }')
    [column] = only(tmp_path, declaration).columns
    field = stored_schema("smf119_tcp_term").field("system")
    assert (column.meaning, column.type) == (field.metadata[b"meaning"].decode(), "VARCHAR")
    assert column.dimension


def test_every_metric_of_the_contract_is_there() -> None:
    promised = {
        "cpu_per_transaction", "handshake_mix", "resumption_rate", "protocol_distribution",
        "cipher_distribution", "handshake_cost", "resumption_saving", "tls_posture", "certificate_inventory",
        "benchmark", "tls_price", "tls_advice",
    }  # fmt: skip
    assert promised <= set(metric_names())


@pytest.mark.parametrize("name", list(declared()))
def test_dependencies_come_first(name: str) -> None:
    assert needed(name)[-1] == name
    assert len(set(needed(name))) == len(needed(name))


@pytest.mark.parametrize("name", list(declared()))
def test_references_are_published_results(name: str) -> None:
    assert set(declared()[name].references) <= set(reference_tables()["reference_result"]["id"].to_pylist())


@pytest.mark.parametrize("name", list(declared()))
def test_parameters_are_declared_where_they_are_read(name: str) -> None:
    """And there alone: what rests on it can be set by them too, and read them, without saying so again."""
    read = set(re.findall(r"getvariable\('(\w+)'\)", declared()[name].sql))
    own = {parameter.name for parameter in declared()[name].parameters}
    assert own <= read <= own | settable(name).keys()


def test_a_parameter_means_one_thing() -> None:
    names = [parameter.name for found in declared().values() for parameter in found.parameters]
    assert len(set(names)) == len(names)


def test_parameters_of_steps_are_parameters_of_the_metric() -> None:
    assert settable("finding")["as_of"][0] == "certificate_seen"
    assert settable("resumption_saving")["target_pct"][0] == "resumption_saving"
    assert settable("handshake_mix")["with_runs"][0] == "left_out_hour"
    assert settable("cpu_interval") == {}


@pytest.mark.parametrize("name", metric_names())
def test_every_metric_declares_the_columns_that_answer_its_question(name: str) -> None:
    assert declared()[name].answer, f"{name}.toml: add answer"


@pytest.mark.parametrize(
    ("added", "problem"),
    [
        ('answer = ["job"]\n', "answer: no column job"),
        ('notes = ["why"]\n', "notes: no column why"),
        ('answer = ["system"]\nnotes = ["system"]\n', "notes: in the answer, too: system"),
        ('shown_by = ["day"]\n', "shown_by: no dimension day"),
        ("rows_by = { job = 'true' }\n", "rows_by: no column job"),
        ("rows_by = { system = 'true' }\n", "rows_by: its rows can be combined"),
    ],
)
def test_what_a_terminal_shows_must_exist(tmp_path: Path, added: str, problem: str) -> None:
    with pytest.raises(DeclarationError, match=problem):
        only(tmp_path, added + HEAD + columns('{ inherit = ["system"], dimension = true }'))
