"""The reader returns what the writers print, in both forms and with columns of any width."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.text.zvm.listings import CPU, Row, extra, read_listing

from zscope.parsers.issues import Code
from zscope.parsers.text.capture_writer import with_control
from zscope.parsers.text.zvm.zvm_columns import figure_of, print_figure
from zscope.parsers.text.zvm.zvm_write import ZvmPrintForm, channel_pages, user_pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

BEGIN = datetime(2026, 3, 2, 13, 20)  # noqa: DTZ001 - local time has no zone
PERIOD = {"interval_start_local": BEGIN, "period_s": 600.0}
USER_FIGURES = ("cpu_pct", "tcpu_s", "vcpu_s", "tv_ratio", "virtual_io_per_s")
PATH_FIGURES = (
    *("bus_cycle_pct", "work_units_pct", "data_write_pct", "data_read_pct"),
    *("own_work_units_pct", "own_data_write_pct", "own_data_read_pct"),
)
INVENTED = {Code.ARITHMETIC, Code.SHARED_PATH}
"""Invented figures need not agree."""


def user(name: str, tcpu: float, vcpu: float) -> Row:
    return {
        **PERIOD,
        "userid": name,
        "cpu_pct": round(tcpu / 6, 2),
        "tcpu_s": tcpu,
        "vcpu_s": vcpu,
        "tv_ratio": round(tcpu / vcpu, 1),
        "virtual_io_per_s": 3.0,
    }


ROWS = [user("RSCS", 269.9, 201.4), user("SSL00001", 72.48, 66.1), user("TCPIP", 53.97, 31.75)]


def joined(pages: Iterable[Sequence[str]]) -> list[str]:
    return [line for page in pages for line in page]


@pytest.mark.parametrize(
    "form",
    [
        ZvmPrintForm(),
        ZvmPrintForm(wider=3),
        ZvmPrintForm(page_rows=2),
        ZvmPrintForm(screen=True, page_rows=2),
    ],
)
def test_figures_that_fit_together(tmp_path: Path, form: ZvmPrintForm) -> None:
    pages = user_pages(ROWS, form)
    lines = joined(pages) if form.screen else with_control(pages)
    result = read_listing(tmp_path, lines, taken=BEGIN.date())
    assert result.problems == []
    assert result.cpu() == {name: spent for name, spent in CPU.items() if name != "OPERATOR"}
    for row, written in zip(result.users, ROWS, strict=True):
        assert {name: row[name] for name in written} == written
        assert extra(row) == {"CPU": "2964", "SER": "51524"}


def _digits(most: int, places: int) -> st.SearchStrategy[float | None]:
    return st.none() | st.integers(0, most).map(lambda number: number / 10**places)


NAMES = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@#$_", min_size=1, max_size=8)
USERS = st.lists(
    st.fixed_dictionaries(
        {
            "userid": NAMES,
            "cpu_pct": _digits(9_999, 2),
            "tcpu_s": _digits(9_999, 3).filter(lambda value: value is not None) | st.just(8_765_000.0),
            "vcpu_s": _digits(9_999, 2),
            "tv_ratio": _digits(999, 1),
            "virtual_io_per_s": _digits(9_999, 1),
        }
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda row: row["userid"],
)
PATHS = st.lists(
    st.fixed_dictionaries(
        {
            "chpid": st.integers(0, 255).map("{:02X}".format),
            "shared": st.sampled_from([True, False, None]),
            "write_bytes_per_s": st.integers(0, 999).map(lambda millions: millions * 1e6),
            "read_bytes_per_s": st.integers(0, 99_999).map(float),
            **{name: st.none() | st.integers(0, 100).map(float) for name in PATH_FIGURES},
        }
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda row: row["chpid"],
)
FORMS = st.builds(
    ZvmPrintForm,
    screen=st.booleans(),
    page_rows=st.integers(1, 9),
    wider=st.integers(0, 5),
)
STARTS = st.integers(0, 3_000_000_000).map(lambda seconds: BEGIN + timedelta(seconds=seconds - 10**9))


def _same(row: Mapping[str, Any], written: Mapping[str, Any], names: Iterable[str]) -> None:
    for name in names:
        assert row[name] == pytest.approx(written[name], abs=1e-9), name


@given(USERS, FORMS, STARTS, st.integers(1, 86_399), st.booleans())
def test_users_are_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[Row],
    form: ZvmPrintForm,
    start: datetime,
    seconds: int,
    control: bool,
) -> None:
    written = [{"interval_start_local": start, "period_s": float(seconds), **row} for row in rows]
    pages = user_pages(written, form)
    end = start + timedelta(seconds=seconds)
    result = read_listing(
        tmp_path_factory.mktemp("users"),
        with_control(pages) if control else joined(pages),
        taken=end.date(),
    )
    assert {issue.code for issue in result.issues} <= INVENTED
    assert [row["userid"] for row in result.users] == [row["userid"] for row in rows]
    for row, expected in zip(result.users, written, strict=True):
        _same(row, expected, (*USER_FIGURES, "period_s"))
        assert row["interval_start_local"] == start


@given(PATHS, FORMS, st.booleans())
def test_paths_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row], form: ZvmPrintForm, control: bool
) -> None:
    written = [{**PERIOD, **row} for row in rows]
    pages = channel_pages(written, form)
    result = read_listing(
        tmp_path_factory.mktemp("paths"),
        with_control(pages) if control else joined(pages),
        taken=BEGIN.date(),
    )
    assert {issue.code for issue in result.issues} <= INVENTED
    for row, expected in zip(result.channels, written, strict=True):
        _same(row, expected, ("write_bytes_per_s", "read_bytes_per_s", *PATH_FIGURES))
        assert [row[name] for name in ("chpid", "shared", "period_s", "interval_start_local")] == [
            expected["chpid"], expected["shared"], 600.0, BEGIN,
        ]  # fmt: skip


@given(st.floats(0, 1e15), st.integers(4, 9), st.integers(0, 3))
def test_a_printed_number_is_as_near_as_it_can_be(value: float, width: int, decimals: int) -> None:
    try:
        text = print_figure(value, width, decimals)
    except ValueError:
        assert value > 10 ** (width + 6)
        return
    figure = figure_of(text)
    assert figure is not None
    assert len(text) <= width
    assert abs(figure.value - value) <= figure.unit / 2 + 1e-6


def test_a_number_that_cannot_be_printed_raises_an_error() -> None:
    with pytest.raises(ValueError, match="does not fit into 5 characters"):
        print_figure(1e15, 5, 1)
