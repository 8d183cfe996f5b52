"""`zscope benchmark`: verdicts, filters, and the arithmetic of one result."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from zscope.app.cli.commands.benchmark import TABLE_COLUMNS
from zscope.pipelines.benchmark.wording import VERDICTS
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.runs import FILE_NAME
from zscope.pipelines.store.catalogue import publish_catalogue
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import Folder

Run = Callable[..., Result]

SAMPLE = Path(__file__).resolve().parents[4] / "sample-data"
BUSY_S = 3600.0
"""CPU seconds of either system of the sample in an hour, give or take a fraction of a second."""
VERSIONS = "tls31-tls13-vs-tls12-cpu"
RESUMED = "tls31-resumption-tls12-cpu"


def microseconds(cpu_us: float) -> int:
    """How many transactions make an hour of the sample come to this for each."""
    return round(BUSY_S * 1e6 / cpu_us)


def runs_toml(runs: Iterable[tuple[str, int, int, dict[str, str]]], *, synthetic: bool) -> str:
    """Runs of an hour, with a client on SYSA and a server on SYSB."""
    parts = []
    for name, hour, transactions, tags in runs:
        for system, role in (("SYSA", "client"), ("SYSB", "server")):
            parts.append(
                f'[[run]]\nname = "{name}"\nsystem = "{system}"\nrole = "{role}"\n'
                f"from = 2026-03-02T{hour:02}:00:00Z\nto = 2026-03-02T{hour + 1:02}:00:00Z\n"
                f'workload = "CRR40(64B/8kB)"\ntransactions = {transactions}\n'
                f"synthetic = {str(synthetic).lower()}\n[run.tags]\n"
                + "".join(f'{key} = "{value}"\n' for key, value in tags.items())
            )
    return "\n".join(parts)


FULL = {"resumption": "none", "heappools64": "on"}
TLS12 = FULL | {"version": "TLSv1.2", "cipher": "C030"}
RUNS = (
    # 116 / 100 is 16 % more, as published; 60 / 100 is 40 % less, within "up to 50 %".
    ("tls12", 1, microseconds(100), TLS12),
    ("tls13", 3, microseconds(116), FULL | {"version": "TLSv1.3", "cipher": "1302"}),
    ("tls12-resumed", 5, microseconds(60), TLS12 | {"resumption": "session-id"}),
    # 130 / 100 with another signature: only the direction is published, higher.
    ("pkcs1", 7, microseconds(100), TLS12 | {"signature": "0401"}),
    ("pss", 9, microseconds(130), TLS12 | {"signature": "0804"}),
    # 200 / 100 where 1149 % are published on the server.
    ("audit-off", 11, microseconds(100), FULL | {
        "version": "TLSv1.3", "cipher": "1301", "icsf_audit_tokenobj": "on", "icsf_audit_sessionobj": "off"}),
    ("audit-on", 13, microseconds(200), FULL | {
        "version": "TLSv1.3", "cipher": "1301", "icsf_audit_tokenobj": "on", "icsf_audit_sessionobj": "on"}),
)  # fmt: skip


@pytest.fixture(scope="module")
def bare(zoned_store: Path) -> Path:
    """The sample data without runs."""
    return zoned_store


@pytest.fixture(scope="module")
def measured(zoned_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample data with runs that are marked as synthetic."""
    store = Path(shutil.copytree(zoned_store, tmp_path_factory.mktemp("measured") / "store"))
    (store / FILE_NAME).write_text(runs_toml(RUNS, synthetic=True), encoding="utf-8")
    publish_catalogue(Folder(store), read_state(Folder(store)))
    return store


def rows_of(result: Result) -> dict[str, dict[str, str]]:
    assert result.exit_code == 0, result.stderr
    return {row["id"]: row for row in csv.DictReader(io.StringIO(result.stdout))}


@pytest.fixture(scope="module")
def explained(measured: Path) -> Callable[[str], list[dict[str, Any]]]:
    """The lines that explain a result, from JSON."""
    from click.testing import CliRunner

    from zscope.app.cli.main import program

    def start(result: str) -> list[dict[str, Any]]:
        words = ["benchmark", "--store", str(measured), "--explain", result, "--format", "json"]
        answer = CliRunner().invoke(program, words, prog_name="zscope")
        assert answer.exit_code == 0, answer.stderr
        lines: list[dict[str, Any]] = json.loads(answer.stdout)
        return lines

    return start


@pytest.mark.deep
def test_without_runs_every_result_still_has_a_row(run: Run, bare: Path) -> None:
    result = run("benchmark", "--store", bare)
    rows = rows_of(result)
    assert len(rows) == 126
    verdicts = Counter(row["verdict"] for row in rows.values())
    assert set(verdicts) == {"no data", "not comparable"}
    assert all(row["why"] for row in rows.values())
    assert not any(row["measured"] for row in rows.values())
    counted = f"{verdicts['not comparable']} not comparable, {verdicts['no data']} no data"
    assert (
        f"126 published results: 0 agrees, 0 differs, 0 direction only, 0 other machine, {counted}"
        in result.stderr
    )
    assert "SYNTHETIC" not in result.stderr


def test_without_runs_production_is_beside_the_results_it_is_about(run: Run, bare: Path) -> None:
    everything = run("benchmark", "--store", str(bare), "--csv")
    assert "zscope benchmark --production" in everything.stderr
    shown = run("benchmark", "--production", "--store", str(bare), "--csv")
    assert shown.exit_code == 0
    rows = list(csv.DictReader(io.StringIO(shown.stdout)))
    assert {row["system"] for row in rows} == {"SYSA", "SYSB"}
    assert {VERSIONS, RESUMED} < {row["id"] for row in rows}
    assert all("Published by IBM: " in row["sentence"] for row in rows)
    refused = run("benchmark", "--production", "--measured", "--store", str(bare))
    assert refused.exit_code == 12
    assert "prints no verdicts" in refused.stderr


def test_runs_of_a_network_give_every_verdict_of_relative_values(run: Run, measured: Path) -> None:
    result = run("benchmark", "--store", measured)
    rows = rows_of(result)
    assert len(rows) == 126
    # Only absolute values have the verdict "other machine": none of z/OS networks.
    assert {row["verdict"] for row in rows.values()} == set(VERDICTS) - {"other machine"}
    same = rows[VERSIONS]
    assert (same["verdict"], same["as_printed"]) == ("agrees", "16 %")
    assert same["measured_by"] == "runs tls12 and tls13"
    assert float(same["measured_value"]) == pytest.approx(16, abs=0.01)
    assert "gives no number" in same["conflict"]
    assert rows["perf32-icsf-sessionobj-cpu-server"]["verdict"] == "differs"
    signature = rows["perf32-pss-cpu-client"]
    assert (signature["verdict"], signature["direction_matches"]) == ("direction only", "agrees")
    resumed = rows[RESUMED]
    assert (resumed["verdict"], resumed["side"], resumed["published_side"]) == (
        "agrees",
        "any",
        "unspecified",
    )
    assert resumed["would_be"].count("agrees") == 3
    assert float(resumed["measured_both_pct"]) == pytest.approx(-40, abs=0.01)
    assert rows["tls31-fips-accel-latency"]["verdict"] == "no data"
    assert (
        "the candidate tagged adapter_mode=accelerator, both tagged fips=on"
        in (rows["tls31-fips-accel-latency"]["why"])
    )


@pytest.mark.deep
def test_synthetic_data_is_marked(run: Run, measured: Path) -> None:
    result = run("benchmark", "--store", measured, "--measured", "--format", "table")
    body = result.stdout.splitlines()[2:]
    assert body
    assert all("synthetic" in line for line in body)
    assert f"SYNTHETIC: {len(body)} of them were computed from synthetic data" in result.stderr
    explained = run("benchmark", "--store", measured, "--explain", VERSIONS)
    assert "SYNTHETIC" in explained.stderr


@pytest.mark.deep
@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (["--verdict", "differs", "--verdict", "agrees"], 4),
        (["--document", "RSCS", "--verdict", "agrees"], 0),
        (["--area", "z/tpf"], 6),
        (["--document", "rscs", "--verdict", "no data"], 20),
    ],
)
def test_options_select_results(arguments: list[str], count: int, run: Run, measured: Path) -> None:
    result = run("benchmark", "--store", measured, *arguments)
    assert len(rows_of(result)) == count
    assert ("no result matches all options" in result.stderr) == (count == 0)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--area", "Linux"], "--area Linux: no published result has it; use MQ; z/OS AT-TLS"),
        (["--document", "a'b"], "--document a'b: no published result has it; use 3.2: z/OS"),
        (["--tolerance", "nan"], "--tolerance: nan is not a percentage"),
    ],
)
def test_unknown_areas_documents_and_tolerances_are_refused(
    arguments: list[str], message: str, run: Run, bare: Path
) -> None:
    result = run("benchmark", "--store", bare, *arguments)
    assert (result.exit_code, result.stdout) == (12, "")
    assert message in result.stderr


@pytest.mark.deep
def test_unusable_runs_are_reported_with_the_verdicts(run: Run, bare: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(bare, tmp_path / "store"))
    (store / FILE_NAME).write_bytes(b"\xff\x00")
    result = run("benchmark", "--store", store)
    assert len(rows_of(result)) == 126
    assert f"left out: {store / FILE_NAME}: is not UTF-8 text (byte 0)\n" in result.stderr
    (store / FILE_NAME).write_text("[[run]]\n[[run]]\n", encoding="utf-8")
    message = run("benchmark", "--store", store).stderr
    assert f"left out: {store / FILE_NAME}, line 1: run[0].name: is missing; expected a text" in message
    assert "; 2 runs are left out, zscope runs lists them all" in message


@pytest.mark.deep
def test_the_table_has_the_essential_columns(run: Run, measured: Path) -> None:
    result = run("benchmark", "--store", measured, "--verdict", "agrees", "--format", "table")
    head, _, *lines = result.stdout.splitlines()
    assert head.split() == list(TABLE_COLUMNS)
    assert [line.split()[0] for line in lines] == [RESUMED, VERSIONS]


@pytest.mark.deep
def test_the_tolerance_changes_verdicts(run: Run, measured: Path) -> None:
    """100 % where 1149 % is published is far off, unless a change is tolerated that is as large again."""
    wide = rows_of(run("benchmark", "--store", measured, "--tolerance", "100"))
    assert wide["perf32-icsf-sessionobj-cpu-server"]["verdict"] == "agrees"
    assert float(wide[VERSIONS]["accepted_low"]) == 0


@pytest.mark.deep
def test_the_verdict_can_be_computed_again_from_the_printed_lines(
    explained: Callable[[str], list[dict[str, Any]]],
) -> None:
    lines = explained(VERSIONS)
    counted = [line for line in lines if line["part"] == "interval" and line["counts"]]
    assert len(counted) == 16  # four quarters of an hour of two sides of two runs

    def cost(stands_for: str) -> float:
        each = []
        for role in ("client", "server"):
            mine = [line for line in counted if (line["stands_for"], line["role"]) == (stands_for, role)]
            each.append(1e6 * sum(i["cpu_s"] for i in mine) / sum(i["transactions"] for i in mine))
        return math.fsum(each)

    def half_width(stands_for: str) -> float:
        [line] = [
            line for line in lines
            if (line["part"], line["stands_for"], line["role"]) == ("figure", stands_for, "both")
        ]  # fmt: skip
        assert line["value"] == pytest.approx(cost(stands_for), rel=1e-12)
        return math.log(line["high"] / line["low"]) / 2

    [verdict] = [line for line in lines if line["part"] == "verdict"]
    ratio = cost("candidate") / cost("baseline")
    spread = math.hypot(half_width("baseline"), half_width("candidate"))
    assert verdict["what"] == "agrees"
    assert verdict["role"] == "both"
    assert verdict["value"] == pytest.approx(100 * (ratio - 1), rel=1e-9)
    assert verdict["low"] == pytest.approx(100 * (ratio * math.exp(-spread) - 1), rel=1e-9)
    assert verdict["high"] == pytest.approx(100 * (ratio * math.exp(spread) - 1), rel=1e-9)
    [accepted] = [line for line in lines if line["part"] == "accepted"]
    assert accepted["low"] <= verdict["high"]
    assert accepted["high"] >= verdict["low"]


@pytest.mark.deep
def test_explain_lists_the_runs_and_why_they_were_chosen(
    explained: Callable[[str], list[dict[str, Any]]],
) -> None:
    lines = explained(VERSIONS)
    assert [line["line"] for line in lines] == list(range(1, len(lines) + 1))
    pairs = [line for line in lines if line["part"] == "pair"]
    assert (pairs[0]["what"], pairs[0]["text"].split(";")[0]) == ("tls12 and tls13", "chosen")
    reasons = {line["what"]: line["text"] for line in pairs}
    assert reasons["tls12-resumed and tls13"].startswith("does not fit: also differs in resumption")
    [conflict] = [line for line in lines if line["part"] == "conflict"]
    assert conflict["what"] == "perf32-tls13-vs-tls12-cpu"


@pytest.mark.deep
def test_explain_compares_the_recomputed_number_with_the_row(run: Run, measured: Path) -> None:
    result = run("benchmark", "--store", measured, "--explain", RESUMED, "--format", "table")
    assert result.exit_code == 0
    assert (
        "computed again from the intervals of the runs: same result for client, server, both" in result.stderr
    )
    for message in (
        "up to 50 %",
        "cpu-pair",
        "supplied count",
        "sum of 4 intervals",
        "100 x (",
    ):
        assert message in result.stdout


@pytest.mark.deep
def test_explain_works_without_a_measurement(run: Run, bare: Path) -> None:
    result = run("benchmark", "--store", bare, "--explain", "mq-8k-per-negotiation", "--format", "table")
    assert result.exit_code == 0
    assert "table mq_round_trip" in result.stdout
    assert "The closing table has 6 ms" in result.stdout
    assert "computed again" not in result.stderr


@pytest.mark.deep
def test_explain_lists_the_inputs_of_a_result(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "store"
    captures = SAMPLE / "systems"
    ingest(store, [captures / "mq" / "round-trips.csv"], IngestOptions(selection=row_selection(None)))
    shutil.copyfile(captures / FILE_NAME, store / FILE_NAME)
    result = run("benchmark", "--store", store, "--explain", "mq-8k-ecdhe-rsa-rt", "--format", "table")
    assert result.exit_code == 0, result.stderr
    assert "computed again from the loaded captures: same result for the comparison" in result.stderr
    assert "SYNTHETIC" in result.stderr
    for message in ("message=8KB cipher=none sslrkeyc=0", "100 x (437 / 402 - 1)", "402 to 437 us", "agrees"):
        assert message in result.stdout
    rows = rows_of(run("benchmark", "--store", store, "--area", "z/VM"))
    assert rows["rscs-t2-etr"]["why"].startswith("both are missing: needs throughput_etr (ETR), the baseline")


def test_explain_suggests_ids_for_an_unknown_result(run: Run, bare: Path) -> None:
    result = run("benchmark", "--store", bare, "--explain", "tls31-tls13-vs-tls12")
    assert result.exit_code == 12
    assert "there is no published result 'tls31-tls13-vs-tls12'; did you mean " in result.stderr
    assert VERSIONS in result.stderr
    begun = run("benchmark", "--store", bare, "--explain", "TLS31")
    assert begun.exit_code == 12
    assert "did you mean tls31-" in begun.stderr
    assert "or another of the 26 ids that contain it?" in begun.stderr
    assert "zscope benchmark lists all results" in run("benchmark", "--store", bare, "--explain", "§").stderr


def test_explain_cannot_be_combined_with_filters(run: Run, bare: Path) -> None:
    result = run("benchmark", "--store", bare, "--explain", VERSIONS, "--area", "MQ")
    assert result.exit_code == 12
    assert "omit the options that choose results" in result.stderr
