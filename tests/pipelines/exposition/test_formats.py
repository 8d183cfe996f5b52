"""The formats: hostile labels, all kinds of numbers, lengths of lines, and real metrics."""

from __future__ import annotations

import io
import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pipelines.exposition import openmetrics_reader, otlp_reader
from tests.pipelines.exposition.small_metrics import MANY, NOW, lines, metric, nothing, text

from zscope.pipelines.exposition import OpenMetrics, Otlp, Resources, expose, series_query
from zscope.pipelines.exposition.openmetrics import number
from zscope.pipelines.exposition.otlp_lines import LINE_BYTES
from zscope.pipelines.exposition.samples import Sample
from zscope.pipelines.exposition.series import COUNT, Family
from zscope.pipelines.metrics import MetricSelection, declared, metric_names
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.session import Session

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = Family("small", "calls", 'Small: the "calls"\\ of all.', COUNT, "calls", summed=True)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), min_size=1)
HOSTILE = (
    'a"b', "a\\b", "a\nb", "a\\nb", "} 1\n# EOF\n", "", " ", "\x00", "\x01", "\r", "\x1b[31m", "\x9b31m",
    "Größe", "\U0001f600", "\ufffd", "x" * 512, "x" * 513, "x" * 514, "y" * 100_000, "(blank", "\u2028",
    "\x7f", "\t",
)  # fmt: skip


def sample(value: float = 1, **labels: str) -> Sample:
    return Sample(tuple(labels.items()), 1_000_000, 2_500_000, value)


@given(st.lists(TEXTS, unique=True, max_size=5))
def test_any_label_survives_openmetrics(texts: list[str]) -> None:
    out = io.BytesIO()
    writer = OpenMetrics(out, timestamps=True)
    written = writer.write(FAMILY, [sample(a=text, b="c") for text in texts])
    writer.close()
    result = openmetrics_reader.read(out.getvalue())
    assert written == len(texts)
    series = result["zscope_small_calls"].samples if texts else {}
    assert set(series) == {frozenset({("a", text), ("b", "c")}) for text in texts}


@given(st.lists(TEXTS, unique=True, max_size=5))
def test_any_label_survives_otlp(texts: list[str]) -> None:
    out = io.BytesIO()
    writer = Otlp(out, Resources("9.9", {}))
    writer.write(FAMILY, [sample(a=text, system="S") for text in texts])
    writer.close()
    points = otlp_reader.read(out.getvalue())
    assert [point.attributes for point in points] == [
        {"zscope.a": text, "zscope.system": "S"} for text in texts
    ]
    assert all(point.resource["host.name"] == "S" for point in points)


def test_hostile_values_stay_different_and_lose_unreadable_characters(tmp_path: Path) -> None:
    columns = ["job_name | VARCHAR", "calls | BIGINT"]
    rows = [f"({_sql(text)}, {place})" for place, text in enumerate(HOSTILE)]
    small = metric(tmp_path, 'grain = ["job_name"]', columns, [*rows, "(NULL, -1)"])
    data, _ = text(small, nothing(tmp_path))
    result = openmetrics_reader.read(data)["zscope_small_calls"].samples
    values = {int(value): dict(labels).get("job_name") for labels, [(_, value)] in result.items()}
    assert len(set(values.values())) == len(HOSTILE) + 1
    assert values[-1] is None
    names = {text: values[place] or "" for place, text in enumerate(HOSTILE)}
    for unchanged in (
        'a"b',
        "a\\b",
        "a\nb",
        "a\\nb",
        "} 1\n# EOF\n",
        " ",
        "Größe",
        "\U0001f600",
        "x" * 512,
        "\t",
    ):
        assert names[unchanged] == unchanged
    assert names[""] == "(blank)"
    assert names["\x00"].startswith("\ufffd~")
    assert names["x" * 513].startswith("x" * 512 + "~")
    assert max(map(len, names.values())) == 512 + 9
    assert not [
        c for name in names.values() for c in name if (c < " " and c not in "\t\n") or "\x7f" <= c < "\xa0"
    ]
    points = otlp_reader.read(lines(small, nothing(tmp_path)))
    assert {point.value: point.attributes.get("zscope.job_name") for point in points} == values


def _sql(text: str) -> str:
    return " || ".join(f"chr({ord(c)})" for c in text) if len(text) < 50 and text else f"'{text}'"


def test_labels_keep_their_types_in_otlp(tmp_path: Path) -> None:
    columns = ["port | INTEGER", "sure | BOOLEAN", "target_pct | DOUBLE", "calls | BIGINT"]
    head = 'grain = ["port", "sure", "target_pct"]'
    small = metric(tmp_path, head, columns, ["(443, true, 80, 1)", "(444, false, 82.5, 2)"])
    result = openmetrics_reader.read(text(small, nothing(tmp_path))[0])["zscope_small_calls"].samples
    assert [dict(labels) for labels in result] == [
        {"port": "443", "sure": "true", "target_pct": "80"},
        {"port": "444", "sure": "false", "target_pct": "82.5"},
    ]
    points = otlp_reader.read(lines(small, nothing(tmp_path)))
    assert [point.attributes for point in points] == [
        {"zscope.port": 443, "zscope.sure": True, "zscope.target_pct": 80.0},
        {"zscope.port": 444, "zscope.sure": False, "zscope.target_pct": 82.5},
    ]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"), (-5, "-5"), (2**63 - 1, "9223372036854775807"), (0.0, "0.0"), (1e300, "1e+300"),
        (5e-324, "5e-324"), (math.inf, "+Inf"), (-math.inf, "-Inf"), (math.nan, "NaN"), (1 / 3, repr(1 / 3)),
    ],
)  # fmt: skip
def test_numbers_keep_all_their_digits(value: float, shown: str) -> None:
    assert number(value) == shown
    out = io.BytesIO()
    writer = Otlp(out, Resources("9.9", {}))
    writer.write(FAMILY, [sample(value)])
    writer.close()
    [point] = otlp_reader.read(out.getvalue())
    assert type(point.value) is type(value)
    assert point.value == value or (math.isnan(point.value) and math.isnan(value))


def test_help_texts_need_no_escape_that_only_one_format_supports() -> None:
    out = io.BytesIO()
    OpenMetrics(out, timestamps=False).write(FAMILY, [sample()])
    assert b"# HELP zscope_small_calls Small: the 'calls'\\\\ of all.\n" in out.getvalue()
    assert out.getvalue().endswith(b"\nzscope_small_calls 1\n")


def test_counts_are_sums_of_their_interval_and_others_are_gauges(tmp_path: Path) -> None:
    columns = [
        "hour_utc | TIMESTAMP WITH TIME ZONE | dimension = true",
        "system | VARCHAR | dimension = true",
        'calls | BIGINT | combine = "sum"',
        'cpu_us | DOUBLE | unit = "us" | combine = "max"',
        'share_pct | DOUBLE | unit = "%" | from = "calls / 2"',
    ]
    head = 'grain = ["system"]\nclock = "hour_utc"'
    rows = ["('2026-03-09T09:00:00Z', 'B', 3, 5)", "('2026-03-09T09:00:00Z', 'A', 2, NULL)"]
    points = otlp_reader.read(lines(metric(tmp_path, head, columns, rows), nothing(tmp_path)))
    values = [
        (p.metric["name"], p.kind, p.metric["unit"], p.attributes["zscope.system"], p.value) for p in points
    ]
    assert values == [
        ("zscope.small.calls", "sum", "", "A", 2),
        ("zscope.small.calls", "sum", "", "B", 3),
        ("zscope.small.cpu", "gauge", "s", "B", 0.000005),
        ("zscope.small.share_ratio", "gauge", "1", "A", 0.01),
        ("zscope.small.share_ratio", "gauge", "1", "B", 0.015),
    ]
    assert points[0].data == {"aggregationTemporality": 1, "isMonotonic": True}
    assert points[0].metric["description"] == "Small: Of calls."
    assert points[0].resource == {"service.name": "zscope", "service.version": "9.9", "host.name": "A"}
    assert points[0].scope == {"name": "zscope", "version": "9.9"}
    assert {(p.end - (p.begin or 0)) // 10**9 for p in points} == {3600}
    assert points[0].end == 1773050400 * 10**9


def test_lines_are_shorter_than_the_limit_of_the_collector(tmp_path: Path) -> None:
    columns = ["name | VARCHAR", "further | VARCHAR", "calls | BIGINT", "others | BIGINT"]
    rows = [f"('{n:06}' || repeat('x', 400), repeat('ü', 500), {n}, 1)" for n in range(2000)]
    data = lines(metric(tmp_path, 'grain = ["name", "further"]', columns, rows), nothing(tmp_path))
    lengths = [len(line) for line in data.splitlines()]
    assert len(lengths) > 10
    assert max(lengths) < LINE_BYTES + 10_000
    assert min(lengths[:-1]) >= LINE_BYTES
    points = otlp_reader.read(data)
    assert sorted(p.value for p in points if p.metric["name"] == "zscope.small.calls") == list(range(2000))


HOURS = MetricSelection(begin=datetime(2026, 3, 10, 9, tzinfo=UTC), end=datetime(2026, 3, 10, 11, tzinfo=UTC))
PARTS = {
    "address_space_cpu": HOURS,
    "connection_count": HOURS,
    "cpu_per_transaction": HOURS,
    "partition_use": HOURS,
    "period_cause": MetricSelection(
        begin=datetime(2026, 3, 10, tzinfo=UTC), end=datetime(2026, 3, 16, tzinfo=UTC)
    ),
    "run_comparison": MetricSelection(where="measure = 'latency'"),
    "service_class_cpu": HOURS,
    "tls_posture": HOURS,
}
"""A part of metrics with many samples, which take long to read; all labels occur in it."""
WITHOUT_NUMBERS = {"best_practice_check", "run_plan"}
"""Metrics that have no series: `test_series.py` reads the message."""
WITHOUT_ROWS = {"run_proposal", "crypto_share", "crypto_card_use", "icsf_service_use", "smf_written"}
"""The runs of the sample world are supplied counts: no records of handshakes show when they began. Its
systems have no hardware counters, and no records of cryptographic cards and of the status of SMF."""


@pytest.mark.deep
@pytest.mark.parametrize("name", sorted(set(metric_names()) - WITHOUT_NUMBERS))
def test_real_metrics_are_the_same_in_all_formats(name: str, request: pytest.FixtureRequest) -> None:
    """Except for the last digits: the order of additions in DuckDB varies."""
    others = name.startswith(("mq_", "zvm_", "ztpf_"))
    store: Path = request.getfixturevalue("systems_store" if others else "summarised_store")

    def written(writer: OpenMetrics | Otlp, *, newest: bool = False) -> int:
        def opened() -> Session:
            return Session.guard(open_reader(store), store)

        query = series_query(declared()[name], selection=PARTS.get(name))
        [values] = expose([query], opened, writer, MANY, NOW, newest=newest)
        return values.samples

    out = io.BytesIO()
    count = written(OpenMetrics(out, timestamps=True))
    families = openmetrics_reader.read(out.getvalue())
    result = [
        (family, labels, float(time or "nan"), float(value))
        for family, values in families.items()
        for labels, series in values.samples.items()
        for time, value in series
    ]
    assert len(result) == count
    assert count > 0 or name.endswith("_disagreement") or name in WITHOUT_ROWS

    out = io.BytesIO()
    written(Otlp(out, Resources("9.9", {})))
    points = sorted(
        (p.metric["name"].replace(".", "_"), p.end // 1000 / 1e6, p.value)
        for p in otlp_reader.read(out.getvalue())
    )
    plain = {
        f"zscope_{f.metric}_{f.name}": f"zscope_{f.metric}_{f.plain_name or f.name}"
        for f in series_query(declared()[name], selection=PARTS.get(name)).families
    }
    expected = sorted((plain[family], time, value) for family, _, time, value in result)
    assert [point[:2] for point in points] == [sample[:2] for sample in expected]
    assert [point[2] for point in points] == pytest.approx([s[2] for s in expected], nan_ok=True)

    out = io.BytesIO()
    count = written(OpenMetrics(out, timestamps=False), newest=True)
    newest = {
        (family, labels): float(value)
        for family, values in openmetrics_reader.read(out.getvalue()).items()
        if "newest_timestamp" not in family
        for labels, [(_, value)] in values.samples.items()
    }
    assert len(newest) == count
    last = {(family, labels): value for family, labels, _, value in result}
    assert newest == pytest.approx({series: last[series] for series in newest}, nan_ok=True)
