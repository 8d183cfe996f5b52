"""Series from declarations: names, units, labels, times, and refused queries."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import duckdb
import pytest
from tests.pipelines.exposition.openmetrics_reader import LabelSet, read
from tests.pipelines.exposition.small_metrics import metric, nothing, text

from zscope.pipelines.export_target import ExportError
from zscope.pipelines.exposition import exported_metrics, series_query
from zscope.pipelines.exposition.series import axis_of
from zscope.pipelines.metrics import Metric, MetricQueryError, declared, macros_sql, metric_names
from zscope.pipelines.store.session import Session

if TYPE_CHECKING:
    from pathlib import Path

HOURLY = 'grain = ["hour_utc", "system"]\nclock = "hour_utc"'
HOUR = "hour_utc | TIMESTAMP WITH TIME ZONE | dimension = true"
SYSTEM = "system | VARCHAR | dimension = true"
CALLS = 'calls | BIGINT | combine = "sum"'
NINE = 1773046800
"""2026-03-09T09:00:00Z."""


def hourly(folder: Path, *rows: str) -> Metric:
    return metric(folder, HOURLY, [HOUR, SYSTEM, "port | INTEGER | dimension = true", CALLS], rows)


def labelled(**labels: str) -> LabelSet:
    return frozenset(labels.items())


WITHOUT_NUMBERS = {"best_practice_check", "run_plan"}


def exported() -> list[Metric]:
    """The metrics that have numbers."""
    return [declared()[name] for name in metric_names() if name not in WITHOUT_NUMBERS]


@pytest.mark.parametrize("name", [metric.name for metric in exported()])
def test_every_declared_metric_has_names_that_are_valid_in_all_formats(name: str) -> None:
    query = series_query(declared()[name])
    names = [family.name for family in query.families]
    assert len(set(names)) == len(names) > 0
    for family in query.families:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", family.name)
        assert not re.search(r"(^|_)(s|ms|us|pct)(_|$)", family.name)
        assert family.help.startswith(f"{declared()[name].title}: ")
        assert not family.unit.name or family.name.endswith(family.unit.name)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", label.name) for label in query.labels)
    assert {"le", "quantile", "job", "instance"}.isdisjoint(label.name for label in query.labels)


@pytest.mark.parametrize("name", [metric.name for metric in exported()])
def test_no_label_is_the_time_of_a_row(name: str) -> None:
    query = series_query(declared()[name])
    labels = {label.name for label in query.labels}
    assert not {label for label in labels if label.endswith("_local")}
    assert not labels & {query.begin, "interval_end_utc", "period_to_utc", "to_utc", "end_utc"}


def test_every_metric_with_a_clock_has_the_end_of_its_intervals() -> None:
    """Otherwise samples would have start times, and metrics could not be compared."""
    ends = {m.name: axis for m in exported() if m.clock and (axis := axis_of(m))}
    begun = {name: axis.begin for name, axis in ends.items() if axis.begin == axis.end}
    assert begun == {
        "cpu_interval_disagreement": "interval_start_utc",
        "mq_key_resets": "interval_end_utc",
        "mq_ssl_task_busy": "interval_end_utc",
    }


def test_metrics_about_intervals_are_exported_by_default() -> None:
    assert {"cpu_interval", "handshake_mix", "tls_posture", "resumption_rate"} <= set(exported_metrics())
    assert not {"benchmark", "certificate_inventory", "finding", "run_result"} & set(exported_metrics())


def test_rows_become_samples_at_the_end_of_their_interval(tmp_path: Path) -> None:
    small = hourly(
        tmp_path,
        "('2026-03-09T09:00:00Z', 'SYSA', 443, 5)",
        "('2026-03-09T09:00:00Z', 'SYSA', 444, 6)",
        "('2026-03-09T10:00:00Z', 'SYSA', 443, 7)",
        "('2026-03-09T09:00:00Z', NULL, 443, 0)",
    )
    data, [summary] = text(small, nothing(tmp_path))
    family = read(data)["zscope_small_calls"]
    assert family.samples == {
        labelled(system="SYSA"): [(str(NINE + 3600), "11"), (str(NINE + 7200), "7")],
        labelled(): [(str(NINE + 3600), "0")],
    }
    assert family.metadata == {"TYPE": "gauge", "HELP": "Small: Of calls."}
    assert (summary.series, summary.samples, summary.without_time) == (2, 3, 0)


def test_columns_named_by_the_user_become_the_labels(tmp_path: Path) -> None:
    small = hourly(
        tmp_path,
        "('2026-03-09T09:00:00Z', 'SYSA', 443, 5)",
        "('2026-03-09T09:00:00Z', 'SYSB', 443, 6)",
        "('2026-03-08T23:00:00Z', 'SYSB', 444, 1)",
    )
    opened = nothing(tmp_path)
    by_port = read(text(small, opened, ["port"])[0])["zscope_small_calls"].samples
    assert by_port[labelled(port="443")] == [(str(NINE + 3600), "11")]
    alone = read(text(small, opened, [])[0])["zscope_small_calls"].samples
    assert [value for _, value in alone[labelled()]] == ["1", "11"]
    by_day = read(text(small, opened, ["day_utc", "port"])[0])["zscope_small_calls"].samples
    midnight = NINE + 15 * 3600
    assert by_day[labelled(port="443")] == [(str(midnight), "11")]
    assert by_day[labelled(port="444")] == [(str(midnight - 24 * 3600), "1")]
    with pytest.raises(MetricQueryError, match="small has no 'cipher' to group by"):
        series_query(small, ["cipher"])


def test_local_days_begin_and_end_by_the_clock_of_the_system(tmp_path: Path) -> None:
    small = hourly(
        tmp_path,
        "('2026-03-28T22:00:00Z', 'SYSA', 443, 1)",
        "('2026-03-28T23:00:00Z', 'SYSA', 443, 2)",
        "('2026-03-29T21:00:00Z', 'SYSA', 443, 4)",
        "('2026-03-29T22:00:00Z', 'SYSA', 443, 8)",
        "('2026-03-29T22:00:00Z', 'SYSB', 443, 16)",
    )

    def opened() -> Session:
        connection = duckdb.connect()
        connection.execute(macros_sql())
        # The clock of SYSA is set from +01:00 to +02:00 on 29 March, which has 23 hours.
        connection.execute(
            "CREATE TABLE clock_offset AS SELECT 'SYSA' AS system, * FROM (VALUES "
            "('-infinity'::TIMESTAMPTZ, '-infinity'::TIMESTAMP, 3600), "
            "('2026-03-29T01:00:00Z'::TIMESTAMPTZ, '2026-03-29T03:00:00'::TIMESTAMP, 7200)) "
            "AS o (from_utc, from_local, offset_s)"
        )
        return Session.guard(connection, tmp_path)

    family = read(text(small, opened, ["day", "system"])[0])["zscope_small_calls"]
    midnight = int(datetime(2026, 3, 29, tzinfo=UTC).timestamp())
    assert family.samples == {
        labelled(system="SYSA"): [
            (str(midnight - 3600), "1"), (str(midnight + 22 * 3600), "6"), (str(midnight + 46 * 3600), "8"),
        ],
        labelled(system="SYSB"): [(str(midnight + 24 * 3600), "16")],
    }  # fmt: skip
    by_week = read(text(small, opened, ["week", "system"])[0])["zscope_small_calls"].samples
    assert by_week[labelled(system="SYSA")] == [
        (str(midnight + 22 * 3600), "7"), (str(midnight + 190 * 3600), "8"),
    ]  # fmt: skip


def test_rows_without_a_time_are_omitted_and_counted(tmp_path: Path) -> None:
    small = hourly(
        tmp_path,
        "(NULL, 'SYSA', 443, 5)",
        "('1969-12-31T20:00:00Z', 'SYSA', 443, 1)",
        "('9999-12-31T20:00:00Z', 'SYSA', 443, 1)",
        "('2026-03-09T09:00:00Z', 'SYSA', 443, 7)",
    )
    data, [summary] = text(small, nothing(tmp_path))
    assert [v for s in read(data)["zscope_small_calls"].samples.values() for _, v in s] == ["7"]
    assert (summary.samples, summary.without_time) == (1, 3)


def test_the_end_of_an_interval_is_that_of_its_column_or_its_length(tmp_path: Path) -> None:
    begin = "interval_start_utc | TIMESTAMP WITH TIME ZONE | dimension = true"
    head = 'grain = ["interval_start_utc", "system"]\nclock = "interval_start_utc"'
    length = 'interval_ms | BIGINT | unit = "ms" | combine = "sum"'
    rows = ["('2026-03-09T09:00:00Z', 'SYSA', 90500, 1)", "('2026-03-09T09:00:00Z', 'SYSB', 90500, 2)"]
    small = metric(tmp_path / "length", head, [begin, SYSTEM, length, CALLS], rows)
    families = read(text(small, nothing(tmp_path), [])[0])
    assert families["zscope_small_calls"].samples[labelled()] == [(f"{NINE + 90}.500000", "3")]
    assert families["zscope_small_interval_seconds"].samples[labelled()][0][1] == "181.0"

    end = "interval_end_utc | TIMESTAMP WITH TIME ZONE | dimension = true"
    rows = [
        "('2026-03-09T09:00:00Z', '2026-03-09T09:10:00Z', 'SYSA', 1)",
        "('2026-03-09T09:00:00Z', NULL, 'SYSB', 2)",
    ]
    small = metric(tmp_path / "column", head, [begin, end, SYSTEM, CALLS], rows)
    families = read(text(small, nothing(tmp_path))[0])
    assert families["zscope_small_calls"].samples == {
        labelled(system="SYSA"): [(str(NINE + 600), "1")],
        labelled(system="SYSB"): [(str(NINE), "2")],
    }


def test_values_are_in_base_units_and_exact(tmp_path: Path) -> None:
    columns = [
        "system | VARCHAR",
        'wait_ms | BIGINT | unit = "ms"',
        'cpu_us_per_call | DOUBLE | unit = "us"',
        'busy_pct | DOUBLE | unit = "%"',
        'days_left | BIGINT | unit = "days"',
        'in_bytes | BIGINT | unit = "bytes"',
        'mb | DOUBLE | unit = "MB"',
        "calls_per_s | DOUBLE",
        "sure | BOOLEAN",
        "text | VARCHAR",
        "many | BIGINT[]",
        "seen_utc | TIMESTAMP WITH TIME ZONE",
        "seen_local | TIMESTAMP",
    ]
    row = "('A', 1001, 0.3, 33.3, 2, 9007199254740993, 1.5, 0.1, true, 'no number', [1], "
    row += "'2026-03-09T09:00:00.25Z', '2026-03-09T09:00:00')"
    data, _ = text(metric(tmp_path, 'grain = ["system"]', columns, [row]), nothing(tmp_path))
    families = {
        name.removeprefix("zscope_small_"): (family.metadata.get("UNIT"), value)
        for name, family in read(data).items()
        for [(_, value)] in family.samples.values()
    }
    assert families == {
        "wait_seconds": ("seconds", "1.001"),
        "cpu_per_call_seconds": ("seconds", "3e-07"),
        "busy_ratio": ("ratio", "0.33299999999999996"),
        "left_seconds": ("seconds", "172800"),
        "in_bytes": ("bytes", "9007199254740993"),
        "bytes": ("bytes", "1500000.0"),
        "calls_per_second": (None, "0.1"),
        "sure": (None, "1"),
        "seen_timestamp_seconds": ("seconds", f"{NINE}.25"),
    }


def test_a_share_of_all_rows_is_omitted_for_rows_over_time(tmp_path: Path) -> None:
    share = 'calls_pct | DOUBLE | unit = "%" | from = "100 * calls / sum(calls) OVER ()"'
    own = 'twice | BIGINT | from = "2 * calls"'
    small = metric(tmp_path, HOURLY, [HOUR, SYSTEM, CALLS, share, own], ["('2026-03-09T09:00:00Z', 'A', 1)"])
    assert [family.name for family in series_query(small).families] == ["calls", "twice"]


def test_a_time_in_the_grain_is_label_and_number(tmp_path: Path) -> None:
    columns = [
        "serial | VARCHAR",
        "not_after_utc | TIMESTAMP WITH TIME ZONE",
        'key_bits | BIGINT | unit = "bits"',
    ]
    head = 'grain = ["serial", "not_after_utc", "key_bits"]'
    data, _ = text(
        metric(tmp_path, head, columns, ["('0A', '2026-03-09T09:00:00Z', 2048)"]), nothing(tmp_path)
    )
    [(name, family)] = read(data).items()
    assert name == "zscope_small_not_after_timestamp_seconds"
    assert family.samples == {
        labelled(serial="0A", not_after_utc="2026-03-09T09:00:00Z", key_bits="2048"): [
            (str(NINE + 27 * 3600), f"{NINE}.0")
        ]
    }


def test_the_unit_of_numbers_of_several_units_is_a_label(tmp_path: Path) -> None:
    columns = ["name | VARCHAR", "unit | VARCHAR", "value | DOUBLE"]
    data, _ = text(metric(tmp_path, 'grain = ["name"]', columns, ["('a', 'ms', 2)"]), nothing(tmp_path))
    assert list(read(data)["zscope_small_value"].samples) == [labelled(name="a", unit="ms")]


def test_the_newest_interval_is_that_of_each_system_and_source(tmp_path: Path) -> None:
    source = "source | VARCHAR | dimension = true | apart = true"
    rows = [
        "('2026-03-09T09:00:00Z', 'A', 'x', 1)",
        "('2026-03-09T10:00:00Z', 'A', 'x', 2)",
        "('2026-03-09T08:00:00Z', 'A', 'y', 3)",
        "('2026-03-07T08:00:00Z', 'A', 'z', 4)",
        "('2026-01-01T08:00:00Z', 'B', 'x', 5)",
    ]
    small = metric(tmp_path, HOURLY, [HOUR, SYSTEM, source, CALLS], rows)
    data, [summary] = text(small, nothing(tmp_path), newest=True)
    families = read(data)
    a, ay, b = (
        labelled(source="x", system="A"), labelled(source="y", system="A"), labelled(source="x", system="B"),
    )  # fmt: skip
    assert families["zscope_small_calls"].samples == {a: [(None, "2")], ay: [(None, "3")], b: [(None, "5")]}
    newest = families["zscope_small_newest_timestamp_seconds"]
    assert newest.metadata["UNIT"] == "seconds"
    assert newest.samples[a] == [(None, f"{NINE + 7200}.0")]
    assert newest.samples[ay] == [(None, f"{NINE}.0")]
    assert set(newest.samples) == {a, ay, b}
    assert summary.series == 3


def test_rows_without_interval_have_the_current_time_and_no_newest_interval(tmp_path: Path) -> None:
    columns = ["system | VARCHAR", "from_utc | TIMESTAMP WITH TIME ZONE", "calls | BIGINT"]
    head = 'grain = ["system"]\nclock = "from_utc"'
    rows = ["('A', '2026-03-09T09:00:00Z', 1)", "('B', '2026-01-09T09:00:00Z', 2)"]
    data, _ = text(metric(tmp_path, head, columns, rows), nothing(tmp_path), newest=True)
    assert {name: len(family.samples) for name, family in read(data).items()} == {"zscope_small_calls": 2}


def test_too_many_series_are_refused_with_options(tmp_path: Path) -> None:
    small = hourly(tmp_path, *(f"('2026-03-09T09:00:00Z', 'S{n}', 1, 1)" for n in range(12)))
    with pytest.raises(ExportError) as refused:
        text(small, nothing(tmp_path), most=11)
    assert str(refused.value) == (
        "small has 12 series: more than 11; system alone has 12 values; group by less with --by, "
        "choose with --system or --from and --to, or allow more with --max-series"
    )
    assert text(small, nothing(tmp_path), most=12)[1][0].series == 12


def test_rows_that_would_be_the_same_sample_are_refused(tmp_path: Path) -> None:
    columns = ["system | VARCHAR", "calls | BIGINT"]
    small = metric(tmp_path, 'grain = ["system"]', columns, ["('A', 1)", "('A', 2)"])
    with pytest.raises(ExportError, match=r"small: several rows are the same sample \(system=A\)"):
        text(small, nothing(tmp_path))


def test_a_metric_without_numbers_is_refused() -> None:
    with pytest.raises(ExportError, match="best_practice_check has no numeric columns"):
        series_query(declared()["best_practice_check"])


def test_a_metric_that_cannot_be_grouped_is_refused(tmp_path: Path) -> None:
    small = metric(tmp_path, 'grain = ["system"]', ["system | VARCHAR", "calls | BIGINT"], ["('A', 1)"])
    with pytest.raises(MetricQueryError, match="there is no --by"):
        series_query(small, ["system"])
