"""Names of workloads: those the reports use, the forms they use side by side, and what is none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zscope.pipelines.runs.workloads import (
    BenchmarkWorkload,
    WorkloadError,
    WorkloadKind,
    parse_workloads,
)
from zscope.schemas.published import published_tables

SIZE = st.tuples(st.integers(1, 10**12 - 1), st.sampled_from(["B", "kB", "MB"]))
UNITS = {"B": 0, "kB": 1, "MB": 2}


def worked_examples() -> list[tuple[str, BenchmarkWorkload]]:
    """Those of the method in the reference, with the sizes in bytes."""
    in_bytes = {"1B": 1, "64B": 64, "100B": 100, "200B": 200, "8kB": 8_000, "20MB": 20_000_000}
    methods = published_tables()["reference_method"].to_pylist()
    (worked,) = (method["worked"] for method in methods if method["id"] == "workload-names")
    examples = []
    for example in json.loads(worked):
        gives = example["gives"]
        sizes = in_bytes[gives["client_bytes"]], in_bytes[gives["server_bytes"]]
        examples.append(
            (example["given"]["name"], BenchmarkWorkload(gives["kind"], gives["clients"], *sizes))
        )
    return examples


def one_of(name: str, kb: int = 1000) -> BenchmarkWorkload:
    """The workload of a name that has one."""
    [workload] = parse_workloads(name, kb)
    return workload


@pytest.mark.parametrize(("name", "expected"), worked_examples())
def test_the_worked_examples_of_the_reference(name: str, expected: BenchmarkWorkload) -> None:
    assert one_of(name) == expected


def test_the_reference_has_worked_examples() -> None:
    assert len(worked_examples()) == 4


@pytest.mark.parametrize(
    ("name", "kind", "clients", "sent", "received"),
    [
        ("RR40(100B)", "RR", 40, 100, 100),
        ("CRR9(64B/200B)", "CRR", 9, 64, 200),
        ("STR3(1B/20MB)", "STR", 3, 1, 20_000_000),
        ("CRR40(64B/8kB)", "CRR", 40, 64, 8_000),
        ("RR(10)(1B/100B)", "RR", 10, 1, 100),
        ("RR60 (4kB)", "RR", 60, 4_000, 4_000),
        (" CRR40 ( 64B / 8kB ) ", "CRR", 40, 64, 8_000),
    ],
)
def test_forms_of_sizes_and_counts(
    name: str, kind: WorkloadKind, clients: int, sent: int, received: int
) -> None:
    assert one_of(name) == BenchmarkWorkload(kind, clients, sent, received)


def test_a_kb_is_what_the_caller_says() -> None:
    assert one_of("CRR40(64B/8kB)").server_bytes == 8_000
    assert one_of("CRR40(64B/8kB)", kb=1024).server_bytes == 8_192
    assert one_of("STR1(1B/20MB)", kb=1024).server_bytes == 20 * 1024 * 1024
    assert [part.server_bytes for part in parse_workloads("RR1(1kB)+RR1(2kB)", kb=1024)] == [1024, 2048]


def test_several_workloads_at_once() -> None:
    assert parse_workloads("RR10(4kB) + STR1(5MB/1B)") == (
        BenchmarkWorkload("RR", 10, 4_000, 4_000),
        BenchmarkWorkload("STR", 1, 5_000_000, 1),
    )


@pytest.mark.parametrize(
    ("name", "column", "expected"),
    [
        ("", 1, "CRR, RR or STR"),
        ("interactive", 1, "CRR, RR or STR"),
        ("crr40(64B)", 1, "CRR, RR or STR"),
        ("RR", 3, "a number of clients"),
        ("RR0(4kB)", 3, "a number of clients"),
        ("RR(4kB)", 5, "')'"),
        ("RR60", 5, "'('"),
        ("RR60 4kB", 6, "'('"),
        ("RR60(kB)", 6, "a size from 1 on"),
        ("RR60(1000000000000MB)", 6, "a size from 1 on"),
        ("RR60(4)", 7, "B, kB or MB"),
        ("RR60(4KB)", 7, "B, kB or MB"),
        ("RR60(4kB", 9, "')'"),
        ("RR60(4kB/)", 10, "a size from 1 on"),
        ("RR60(4kB/1B/2B)", 12, "')'"),
        ("RR60(4kB))", 10, "the end of the name"),
        ("RR60(4kB) and more", 11, "the end of the name"),
    ],
)
def test_invalid_workload_reports_position_and_expectation(name: str, column: int, expected: str) -> None:
    with pytest.raises(WorkloadError) as error:
        parse_workloads(name)
    assert (error.value.column, error.value.expected) == (column, expected)
    assert f"expected {expected} at column {column}, got " in str(error.value)


def test_a_sum_needs_a_second_part() -> None:
    with pytest.raises(WorkloadError, match="expected CRR, RR or STR at column 12, got the end of the name"):
        parse_workloads("RR10(4kB) +")


@given(st.sampled_from(["CRR", "RR", "STR"]), st.integers(1, 10**6), SIZE, st.none() | SIZE, st.booleans())
def test_every_name_that_can_be_written_is_read(
    kind: WorkloadKind, clients: int, sent: tuple[int, str], received: tuple[int, str] | None, apart: bool
) -> None:
    sizes = [sent] if received is None else [sent, received]
    count = f"({clients}) " if apart else f"{clients}"
    name = f"{kind}{count}({'/'.join(f'{number}{unit}' for number, unit in sizes)})"
    in_bytes = [number * 1024 ** UNITS[unit] for number, unit in sizes]
    assert one_of(name, kb=1024) == BenchmarkWorkload(kind, clients, in_bytes[0], in_bytes[-1])


@given(st.text(alphabet="CRST()0123456789BkM/+ ", max_size=30))
def test_a_text_is_a_workload_or_an_error_with_a_place(text: str) -> None:
    try:
        parts = parse_workloads(text)
    except WorkloadError as error:
        assert 1 <= error.column <= len(text) + 1  # noqa: PT017 - most texts are no workload
    else:
        assert all(part.clients > 0 and part.client_bytes > 0 and part.server_bytes > 0 for part in parts)
