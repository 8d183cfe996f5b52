"""`zscope metrics`: the list, grouping, filters, parameters and invalid options."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.samples.world_reading import SLOW, write

from zscope.app.cli.main import program
from zscope.pipelines.metrics import metric_names
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import transaction
from zscope.pipelines.store.folder import existing_store
from zscope.pipelines.store.stored_steps import drop_summaries
from zscope.samples.world import WorldRecipe

WORLD = Path(__file__).resolve().parents[4] / "sample-data" / "world"
SAMPLE = WORLD.parent / "smf-sample.bin"
Ask = Callable[..., Result]
Run = Callable[..., Result]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems on a day in which each connection has records."""
    folder = tmp_path_factory.mktemp("metrics") / "store"
    world = folder.parent / "world"
    write(WorldRecipe(days=1, connections_per_hour=40, runs="none", cost=SLOW), world)
    dumps = (str(world / "smf" / f"{system}.smf") for system in ("CLI2", "SRV2"))
    loaded = CliRunner().invoke(program, ["ingest", *dumps, "--store", str(folder), "--timezone", "+01:00"])
    assert loaded.exit_code == 0, loaded.output
    return folder


@pytest.fixture
def ask(run: Ask, store: Path) -> Ask:
    def run_metrics(*arguments: object) -> Result:
        return run("metrics", *arguments, "--store", store)

    return run_metrics


def rows(result: Result) -> list[dict[str, str]]:
    assert result.exit_code == 0, result.output
    return list(csv.DictReader(io.StringIO(result.stdout)))


def counted(lines: list[dict[str, str]], column: str = "handshakes") -> int:
    return sum(int(row[column]) for row in lines)


def test_all_metrics_are_listed_with_their_questions(ask: Ask) -> None:
    result = rows(ask())
    assert [row["metric"] for row in result] == list(metric_names())
    assert all(row["question"].endswith("?") for row in result)


def test_rows_of_days_that_the_data_do_not_cover_are_counted(run: Run, demo: tuple[Path, object]) -> None:
    result = run("metrics", "handshake_mix", "--by", "system,day", "--store", demo[0], "--format", "csv")
    shares = [float(row["covered_pct"]) for row in rows(result)]
    few = sum(share < 95 for share in shares)
    assert 0 < few < len(shares)
    assert (
        f"note: {few} of {len(shares)} rows are of days of which the data cover less than 95 %"
        in result.stderr
    )


@pytest.mark.parametrize(
    ("options", "noted"),
    [
        (("handshake_mix", "--by", "server_port"), True),
        (("handshake_mix", "--by", "server_port", "--system", "SRV2"), False),
        (("handshake_mix", "--by", "system,server_port"), False),
        (("cpu_interval",), False),
    ],
)
def test_sums_over_systems_have_a_note_on_connections_between_two(
    run: Run, demo: tuple[Path, object], options: tuple[str, ...], noted: bool
) -> None:
    result = run("metrics", *options, "--store", demo[0], "--format", "csv")
    assert result.stdout.count("\n") > 1
    assert ("a connection between two of the systems counts on both" in result.stderr) is noted


def test_rows_without_an_incomplete_day_have_no_note(ask: Ask) -> None:
    full = ask("handshake_mix", "--by", "system,day", "--where", "covered_hours > 0.95 * hours")
    assert rows(full)
    assert "cover less" not in full.stderr
    assert "cover less" not in ask("cpu_interval").stderr


def test_a_metric_gives_the_rows_of_its_view(ask: Ask, run: Ask, store: Path) -> None:
    result = ask("handshake_mix").stdout
    assert result == run("sql", "SELECT * FROM handshake_mix", "--store", store).stdout
    assert len(result.splitlines()) > 50


def test_by_groups_rows(ask: Ask) -> None:
    every = counted(rows(ask("handshake_mix")))
    by_system = rows(ask("handshake_mix", "--by", "system"))
    assert [row["system"] for row in by_system] == ["CLI2", "SRV2"]
    assert counted(by_system) == every
    [together] = rows(ask("handshake_mix", "--by", "all"))
    assert int(together["handshakes"]) == every
    full, resumed = int(together["full_handshakes"]), int(together["resumed_handshakes"])
    assert float(together["resumed_pct"]) == pytest.approx(100 * resumed / (full + resumed))


def test_a_condition_on_a_calculated_column_selects_the_rows_that_are_shown(ask: Ask) -> None:
    every = rows(ask("handshake_mix", "--by", "system,server_port"))
    most = max(float(row["full_pct"]) for row in every if row["full_pct"])
    chosen = rows(ask("handshake_mix", "--by", "system,server_port", "--where", f"full_pct < {most} - 1e-9"))
    assert chosen == [row for row in every if row["full_pct"] and float(row["full_pct"]) < most - 1e-9]
    assert 0 < len(chosen) < len(every)
    text = rows(ask("handshake_mix", "--by", "system", "--where", "system <> 'full_pct'"))
    assert text == rows(ask("handshake_mix", "--by", "system"))


@pytest.mark.deep
def test_parts_add_up_to_the_whole(ask: Ask) -> None:
    every = counted(rows(ask("handshake_mix", "--by", "system")))
    noon = "2026-03-09T13:00+01:00"
    before, after = (rows(ask("handshake_mix", side, noon, "--by", "system")) for side in ("--to", "--from"))
    assert 0 < counted(before) < every
    assert counted(before) + counted(after) == every
    # The day of UTC from which the records are has an hour of the next day of the systems.
    days = rows(ask("handshake_mix", "--from", "2026-03-09", "--to", "2026-03-10", "--by", "day"))
    assert counted(days) == every
    for day in days:
        alone = rows(ask("handshake_mix", "--from", day["day"], "--to", day["day"], "--by", "day"))
        assert alone == [day]
    assert [day["day"] for day in days] == ["2026-03-09", "2026-03-10"]
    one, other = (rows(ask("handshake_mix", "--system", name, "--by", "all")) for name in ("CLI2", "SRV2"))
    assert counted(one) + counted(other) == every
    web = ask("handshake_mix", "--where", "server_port = 443", "--by", "server_port")
    assert [row["server_port"] for row in rows(web)] == ["443"]


@pytest.mark.deep
def test_a_period_can_be_a_parameter_of_the_metric(ask: Ask) -> None:
    def starts(*arguments: object) -> set[str]:
        return {row["peak_start_utc"][:13] for row in rows(ask("peak_load", *arguments))}

    afternoon = starts("--from", "2026-03-09T12:00Z")
    assert afternoon
    assert all(start >= "2026-03-09T12" for start in afternoon)
    assert afternoon == starts("--set", "peak_from=2026-03-09T12:00Z")
    assert rows(ask("peak_load", "--set", "peak_from=2026-03-10")) == []


def test_parameters_are_listed_and_set(ask: Ask) -> None:
    listed = {row["parameter"]: row for row in rows(ask("resumption_saving", "--parameters"))}
    assert listed["target_pct"]["default"] == "95"
    targets = {row["target_pct"] for row in rows(ask("resumption_saving", "--set", "target_pct=77"))}
    assert targets - {row["target_pct"] for row in rows(ask("resumption_saving"))} == {"77"}


@pytest.mark.deep
def test_the_price_of_an_msu_is_an_option(ask: Ask) -> None:
    statements = [
        ask("tls_price", *option, "--sql").stdout
        for option in (("--price-per-msu", "150"), ("--set", "price_per_msu=150"))
    ]
    assert statements[0] == statements[1]
    priced = rows(ask("tls_price", "--price-per-msu", "150"))
    highest = {row["high_msu"]: row["high_price"] for row in priced if row["high_msu"]}
    assert highest
    for msu, price in highest.items():
        assert float(price) == pytest.approx(150 * float(msu))


def test_the_price_by_time_is_that_of_another_metric(ask: Ask) -> None:
    by_week = ask("tls_price", "--by", "week")
    assert by_week.stdout == ask("tls_price_day", "--by", "week").stdout
    for row in rows(by_week):
        assert float(row["covered_pct"]) < 95
        assert (row["status"], row["low_cpu_s_per_day"]) == ("not enough data", "")
        assert "95 % are needed" in row["why"]
    assert "tls_price has no rows by 'part'" in ask("tls_price", "--by", "part").stderr


def test_columns_are_listed_with_their_meaning(ask: Ask) -> None:
    result = {row["column_name"]: row for row in rows(ask("handshake_mix", "--columns"))}
    assert result["system"]["use"] == "group by"
    assert result["full_handshakes"]["use"] == "sum"
    assert "resumed_handshakes" in result["resumed_pct"]["calculation"]


def test_sql_prints_the_statement(ask: Ask, run: Ask, store: Path, tmp_path: Path) -> None:
    options = ("handshake_mix", "--by", "system", "--system", "SRV2", "--from", "2026-03-09T12:00Z")
    file = tmp_path / "mix.sql"
    file.write_text(ask(*options, "--sql").stdout, encoding="utf-8")
    assert run("sql", "-f", file, "--store", store).stdout == ask(*options).stdout


def test_no_rows_of_a_period_are_explained_by_the_options(ask: Ask) -> None:
    result = ask("resumption_rate", "--from", "2031-01-01")
    assert rows(result) == []
    assert "no rows match; there are some without --from, --to, --system and --where" in result.stderr
    assert "gsk_cache_stats" not in result.stderr


def test_no_rows_is_explained_by_the_missing_input(run: Run, tmp_path: Path) -> None:
    (tmp_path / "nothing.txt").write_text("nothing that is known")
    assert run("ingest", tmp_path / "nothing.txt", "--store", tmp_path / "store").exit_code == 8
    result = run("metrics", "handshake_mix", "--store", tmp_path / "store")
    assert rows(result) == []
    assert result.stderr == "no rows; no zERT detail (SMF 119-11): kinds of handshakes unknown\n"


def test_no_estimate_before_the_next_load_is_explained(run: Run, store: Path, tmp_path: Path) -> None:
    """As in a store of an earlier version, whose stored rows this version does not read."""
    copied = Path(shutil.copytree(store, tmp_path / "store"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transaction, "steps_to_store", lambda *_: ())
        with transaction.changing(existing_store(copied), Settings(), lambda _: None) as state:
            drop_summaries(existing_store(copied), state)
    result = run("metrics", "tls_price", "--system", "SRV2", "--store", copied)
    assert rows(result) == []
    computes = (
        "the store has no estimate for SRV2 yet: the next zscope ingest computes it, or zscope store rebuild"
    )
    assert result.stderr == f"no rows; what TLS costs is not known: {computes}\n"
    assert run("store", "rebuild", "--store", copied).exit_code == 0
    assert rows(run("metrics", "tls_price", "--system", "SRV2", "--store", copied))


def test_a_metric_without_parameters_prints_a_message(ask: Ask) -> None:
    result = ask("cpu_interval", "--parameters")
    assert (rows(result), result.stderr) == ([], "cpu_interval has no parameters\n")


def test_a_repeated_column_counts_once(ask: Ask) -> None:
    assert (
        ask("handshake_mix", "--by", "system, system").stdout == ask("handshake_mix", "--by", "system").stdout
    )


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["handshake_mxi"], "there is no metric handshake_mxi; did you mean handshake_mix"),
        (["handshake_mix", "--by", "prot"], "handshake_mix has no 'prot' to group by; there is: system"),
        (["handshake_cost", "--by", "system"], "handshake_cost: its rows cannot be combined"),
        (["handshake_mix", "--set", "x=1"], "--set x=1: handshake_mix has no parameter 'x'"),
        (["handshake_mix", "--price-per-msu", "1"], "handshake_mix has no parameter 'price_per_msu'"),
        (["tls_price", "--by", "week", "--with-runs"], "--with-runs: tls_price_day has no such choice"),
        (
            ["tls_price", "--by", "week", "--with-runs"],
            "Metrics that can count hours with benchmark runs: address_space_crypto, ",
        ),
        (["cpu_interval", "--with-runs"], "--with-runs: cpu_interval has no such choice"),
        (["handshake_mix", "--where", "no_such_column = 1"], "--where no_such_column = 1: "),
        (
            ["handshake_mix", "--where", "no_such_column = 1"],
            "columns of handshake_mix: system, stack, day, hour_utc",
        ),
        (["handshake_mix", "--where", "syntax("], "--where syntax(: Parser Error: syntax error"),
        (["handshake_mix", "--where", "1 = 1) --"], "--where 1 = 1) --: Parser Error"),
        (["handshake_mix", "--where", "1 = 1); SELECT (1"], "exactly one statement is expected"),
        (
            ["handshake_mix", "--system", "srv2"],
            "--system srv2: there is no such system in the store; it has CLI2",
        ),
        (["handshake_mix", "--system", "a'b\"c"], "--system a'b\"c: there is no such system"),
        (["handshake_mix", "--from", "yesterday"], "'yesterday' is not a day or time such as 2026-03-02"),
        (["handshake_mix", "--from", "2026-13-01"], "'2026-13-01' is not a day or time such as"),
        (["handshake_mix", "--to", "9999-12-31"], "the year must be between 1970 and 2999"),
        (["handshake_mix", "--from", "0001-01-01T00:00+05:00"], "the year must be between 1970 and 2999"),
        (
            ["handshake_mix", "--from", "2026-03-10", "--to", "2026-03-09"],
            "--to 2026-03-09 is not after --from",
        ),
        (["run_proposal", "--set", "run_least_minutes=many"], "'many' is not a whole number of 0 or more"),
        (["run_proposal", "--set", "run_least_minutes=1.5"], "'1.5' is not a whole number of 0 or more"),
        (["run_proposal", "--set", "run_least_minutes=-1"], "'-1' is not a whole number of 0 or more"),
        (["run_proposal", "--set", "run_least_minutes=9" + 20 * "9"], "is not a whole number"),
        (
            ["run_proposal", "--set", "run_least_minutes"],
            "the value is missing; write run_least_minutes=VALUE",
        ),
        (["run_proposal", "--set", "run_alike_pct=nan"], "'nan' is not a number of 0 or more"),
        (["peak_load", "--set", "peak_from=2026-13-01"], "'2026-13-01' is not a day or time such as"),
        (["resumption_saving", "--set", "target_pct=500"], "target_pct goes from 0 to 100, not 500"),
        (["--by", "system"], "these options need the NAME of a metric"),
        (["finding", "--from", "2026-03-02"], "finding has no time column, so there is no period to select"),
        (
            ["tls_price", "--by", "job_name", "--from", "2026-03-02"],
            "no period to select; tls_price_day has its days",
        ),
        (
            ["tls_price", "--from", "2026-03-02T10:00"],
            "tls_price_day has local days, and no times: select days, such as 2026-03-02",
        ),
        (
            ["tls_price", "--by", "job"],
            "tls_price has no rows by 'job'; there is one of: system, job_name, server_port, ",
        ),
    ],
)
def test_invalid_options_are_refused(ask: Ask, arguments: list[str], problem: str) -> None:
    result = ask(*arguments)
    assert result.exit_code == 12
    assert problem in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("metric", "where", "problem"),
    [
        ("tls_price", "shared_by = 'conections'", "shared_by has no value 'conections'; it has: "),
        ("tls_price", "part IN ('TLS13')", "part has no value 'TLS13'; it has: TLS, bulk data, "),
        ("handshake_mix", "system = 'SRV'", "system has no value 'SRV'; it has: CLI2, SRV2; did you mean"),
        ("handshake_mix", "system = 'CLI2' AND handshakes < 0", "no rows match; there are some without"),
    ],
)
def test_a_value_that_a_column_does_not_have_is_named_with_those_it_has(
    ask: Ask, metric: str, where: str, problem: str
) -> None:
    result = ask(metric, "--where", where)
    assert result.exit_code == 0
    assert problem in result.stderr


@pytest.mark.deep
def test_a_result_without_times_in_utc_has_a_note_with_the_option(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "unzoned"
    run("ingest", SAMPLE, "--store", store, "--timezone", "SYSB=+01:00")
    for command in (("metrics", "peak_load"), ("check",)):
        result = run(*command, "--store", store)
        assert "note: rows of SYSA have no time in UTC" in result.stderr
        assert (
            "zscope loads remove 1, and then ingest the file again with --timezone SYSA=+01:00"
            in result.stderr
        )
    for command in (("metrics", "peak_load"), ("check",)):
        assert "no time in UTC" not in run(*command, "--system", "SYSB", "--store", store).stderr
    # Its tables have times in UTC whether a zone is configured or not.
    assert "no time in UTC" not in run("metrics", "handshake_mix", "--store", store).stderr
    run("loads", "remove", "1", "--store", store)
    zones = ("--timezone", "SYSA=+01:00", "--timezone", "SYSB=+01:00")
    run("ingest", SAMPLE, "--store", store, *zones)
    assert "no time in UTC" not in run("metrics", "peak_load", "--store", store).stderr


@pytest.mark.deep
def test_a_file_without_any_time_needs_no_time_zone(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "policy"
    run("ingest", SAMPLE.parent / "world" / "policy", "--store", store, "--timezone", "CLI1=+01:00")
    result = run("metrics", "period_comparison", "--store", store)
    [note] = [line for line in result.stderr.splitlines() if "no time in UTC" in line]
    assert note.startswith("note: rows of SRV1 have no time in UTC"), "CLI2 and SRV2 have policy files"
