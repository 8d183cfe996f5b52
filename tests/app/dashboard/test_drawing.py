"""Drawing data: names are never markup, and files contain the rows of the table."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet
import pytest
from streamlit.testing.v1 import AppTest
from tests.app.dashboard.conftest import LONGEST_S

from zscope.app.dashboard import drawing
from zscope.app.dashboard.drawing import as_csv, as_parquet, clean, plain
from zscope.app.dashboard.labels import column_config, explained
from zscope.app.dashboard.style import values
from zscope.app.shared.column_labels import label
from zscope.pipelines.metrics import metric_names

TABLE = pa.table(
    {
        "system": ["SYSA", None],
        "hour_utc": pa.array([datetime(2026, 3, 2, 10, tzinfo=UTC), None], pa.timestamp("us", "UTC")),
        "jobs": pa.array([["A", "B"], None], pa.list_(pa.string())),
        "share_pct": [12.5, float("nan")],
    }
)


@pytest.mark.parametrize("text", ["**b**", "<b>", "[a](b)", "`x`", "$x$", ":red[x]", "# x", "~~x~~", "&lt;"])
def test_markup_in_data_is_text(text: str) -> None:
    shown = plain(text)
    assert all(shown[at - 1] == "\\" for at, character in enumerate(shown) if character in "*<>[]()`$#~&:")
    assert shown.replace("\\", "") == text


@pytest.mark.parametrize("text", ["http://example.com", "HTTPS://x", "www.example.com", "a@example.com"])
def test_addresses_in_data_are_no_links(text: str) -> None:
    shown = plain(text).replace("\\", "")
    assert shown != text
    assert shown.replace("\N{WORD JOINER}", "") == text


def test_control_characters_and_endless_names_are_cut() -> None:
    assert clean("a\nb\x1b[31m\u202e") == "a\ufffdb\ufffd[31m\ufffd"
    assert len(clean("x" * 1000)) == 80
    assert clean("x" * 1000).endswith("…")


def test_downloads_contain_the_table() -> None:
    assert (
        as_csv(TABLE).decode().splitlines()[1]
        == '"SYSA","2026-03-02 10:00:00.000000Z","[\'A\', \'B\']","12.5"'
    )
    assert pa.parquet.read_table(io.BytesIO(as_parquet(TABLE))).schema.equals(TABLE.schema)


def test_dates_without_end_are_downloaded() -> None:
    days = pa.array([0, None, 2**31 - 1], pa.date32())
    moments = pa.array([0, 2**63 - 1, -(2**63) + 1], pa.timestamp("us", "UTC"))
    assert as_csv(pa.table({"day": days, "moment": moments})).decode().splitlines()[1:] == [
        '"1970-01-01","1970-01-01T00:00:00.000000Z"',
        ',"infinity"',
        '"infinity","-infinity"',
    ]


def test_charts_get_utc_times_and_no_nan() -> None:
    first, second = values(TABLE).values
    assert first["hour_utc"] == "2026-03-02T10:00:00+00:00"
    assert second == {"system": None, "hour_utc": None, "jobs": None, "share_pct": None}


@pytest.mark.parametrize("name", metric_names())
def test_columns_of_metrics_are_explained(name: str) -> None:
    assert all(expected.meaning and expected.label for expected in explained(name).values())


def test_columns_of_tables_name_the_field_of_ibm() -> None:
    config = column_config(pa.table({"local_port": [443]}), ["smf119_tcp_term"])
    assert "SMF119AP_TTLPort" in config["local_port"]["help"]


def test_labels_have_their_unit() -> None:
    assert label("cpu_s_per_day") == "CPU s per day"
    assert label("ziip_s") == "zIIP (s)"


def test_downloaded_texts_are_no_formulas() -> None:
    names = pa.array(["=1+2", "-5", "CN=a\x1b[0m"])
    table = pa.table({"@name": names, "coded": names.dictionary_encode(), "n": [-5, 5, None]})
    assert as_csv(table).decode().splitlines() == [
        '"\'@name","coded","n"',
        '"\'=1+2","\'=1+2","-5"',
        '"-5","-5","5"',
        '"CN=a\\x1b[0m","CN=a\\x1b[0m",',
    ]


def _opened_or_not() -> None:
    import streamlit as st

    from zscope.app.dashboard.drawing import folded

    folded("Data (2 rows)", "few-data", lambda: st.text("both rows"))


def test_what_is_folded_is_drawn_when_it_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "FOLDED", True)
    page = AppTest.from_function(_opened_or_not, default_timeout=LONGEST_S).run()
    assert ([each.label for each in page.expander], list(page.text)) == (["Data (2 rows)"], [])
    page.session_state["few-data"] = True
    assert [each.value for each in page.run().text] == ["both rows"]
