"""zscope metrics: what there is, rows in other groupings and of a part, and what cannot be asked."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from zscope.app.cli import program
from zscope.pipelines.metrics import metric_names

WORLD = Path(__file__).resolve().parents[2] / "sample-data" / "world"
Ask = Callable[..., Result]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("metrics") / "store"
    dumps = (str(WORLD / "smf" / f"{system}.smf.gz") for system in ("CLI2", "SRV2"))
    loaded = CliRunner().invoke(program, ["ingest", *dumps, "--store", str(folder), "--timezone", "+01:00"])
    assert loaded.exit_code == 0, loaded.output
    return folder


@pytest.fixture
def ask(run: Ask, store: Path) -> Ask:
    def asked(*arguments: object) -> Result:
        return run("metrics", *arguments, "--store", store)

    return asked


def rows(result: Result) -> list[dict[str, str]]:
    assert result.exit_code == 0, result.output
    return list(csv.DictReader(io.StringIO(result.stdout)))


def counted(found: list[dict[str, str]], column: str = "handshakes") -> int:
    return sum(int(row[column]) for row in found)


def test_all_metrics_are_listed_with_their_questions(ask: Ask) -> None:
    found = rows(ask())
    assert [row["metric"] for row in found] == list(metric_names())
    assert all(row["question"].endswith("?") for row in found)


def test_a_metric_gives_the_rows_of_its_view(ask: Ask, run: Ask, store: Path) -> None:
    found = ask("handshake_mix").stdout
    assert found == run("sql", "SELECT * FROM handshake_mix", "--store", store).stdout
    assert len(found.splitlines()) > 50


def test_rows_are_grouped_as_asked(ask: Ask) -> None:
    every = counted(rows(ask("handshake_mix")))
    by_system = rows(ask("handshake_mix", "--by", "system"))
    assert [row["system"] for row in by_system] == ["CLI2", "SRV2"]
    assert counted(by_system) == every
    [together] = rows(ask("handshake_mix", "--by", "all"))
    assert int(together["handshakes"]) == every
    full, resumed = int(together["full_handshakes"]), int(together["abbreviated_handshakes"])
    assert float(together["resumed_pct"]) == pytest.approx(100 * resumed / (full + resumed))


def test_parts_add_up_to_the_whole(ask: Ask) -> None:
    every = counted(rows(ask("handshake_mix", "--by", "system")))
    noon = "2026-03-09T13:00+01:00"
    before, after = (rows(ask("handshake_mix", side, noon, "--by", "system")) for side in ("--to", "--from"))
    assert 0 < counted(before) < every
    assert counted(before) + counted(after) == every
    day = rows(ask("handshake_mix", "--from", "2026-03-09", "--to", "2026-03-09", "--by", "day"))
    assert counted(day) == every
    one, other = (rows(ask("handshake_mix", "--system", name, "--by", "all")) for name in ("CLI2", "SRV2"))
    assert counted(one) + counted(other) == every
    web = ask("handshake_mix", "--where", "server_port = 443", "--by", "server_port")
    assert [row["server_port"] for row in rows(web)] == ["443"]


def test_a_period_of_a_fit_is_the_period_of_its_intervals(ask: Ask) -> None:
    found = rows(ask("handshake_cost", "--from", "2026-03-09T06:00Z", "--to", "2026-03-09T18:00Z"))
    assert [row["period_from_utc"][:16] for row in found] == ["2026-03-09T06:00"] * 2
    assert {row["intervals"] for row in found} == {"48"}


def test_parameters_are_listed_and_set(ask: Ask) -> None:
    listed = {row["parameter"]: row for row in rows(ask("handshake_cost", "--parameters"))}
    assert listed["cost_min_intervals"]["default"] == "12"
    found = rows(ask("handshake_cost", "--set", "cost_min_intervals=1000"))
    assert {row["status"] for row in found} == {"refused"}


def test_columns_are_explained(ask: Ask) -> None:
    found = {row["column_name"]: row for row in rows(ask("handshake_mix", "--columns"))}
    assert found["system"]["use"] == "group by"
    assert found["full_handshakes"]["use"] == "sum"
    assert "abbreviated_handshakes" in found["resumed_pct"]["calculation"]


def test_the_statement_can_be_had_instead(ask: Ask, run: Ask, store: Path, tmp_path: Path) -> None:
    options = ("handshake_mix", "--by", "system", "--system", "SRV2", "--from", "2026-03-09T12:00Z")
    file = tmp_path / "mix.sql"
    file.write_text(ask(*options, "--sql").stdout, encoding="utf-8")
    assert run("sql", "-f", file, "--store", store).stdout == ask(*options).stdout


def test_no_rows_are_told_with_what_they_are_made_from(ask: Ask) -> None:
    result = ask("resumption_rate", "--from", "2031-01-01")
    assert rows(result) == []
    assert "no rows; resumption_rate is made from" in result.stderr
    assert "gsk_cache_stats" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["handshake_mxi"], "there is no metric handshake_mxi; did you mean handshake_mix"),
        (["handshake_mix", "--by", "prot"], "handshake_mix has no 'prot' to group by; there is: system"),
        (["handshake_cost", "--by", "system"], "its rows cannot be put together"),
        (["handshake_mix", "--set", "x=1"], "--set x=1: handshake_mix has no parameter 'x'"),
        (["handshake_mix", "--where", "no_such_column = 1"], "no_such_column"),
        (["handshake_mix", "--from", "yesterday"], "'yesterday' is no day such as 2026-03-02"),
        (["handshake_cost", "--set", "cost_min_intervals=many"], "many"),
        (["--by", "system"], "name the metric that this is about"),
        (["finding", "--from", "2026-03-02"], "finding has no time by which a period could be chosen"),
    ],
)
def test_what_cannot_be_asked_is_told(ask: Ask, arguments: list[str], problem: str) -> None:
    result = ask(*arguments)
    assert result.exit_code == 12
    assert problem in result.stderr
    assert result.stdout == ""
