"""A figure that appears on two pages is the same, or the page says why it differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.app.dashboard.conftest import words
from tests.app.dashboard.page_helpers import sql
from tests.marking import deep_except

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest
    from tests.app.dashboard.conftest import Open

QUERIES: list[dict[str, str]] = [{}, {"system": "SRV1"}]


def tile(page: AppTest, start: str) -> str:
    """Return the value of the first tile whose label starts with a word."""
    return next(str(metric.value) for metric in page.metric if metric.label.startswith(start))


@pytest.mark.parametrize("query", deep_except(QUERIES[:1], QUERIES))
def test_the_resumption_rate_is_the_same_everywhere(
    drawn_page: Open, recorded: Path, query: dict[str, str]
) -> None:
    shown = {
        tile(drawn_page("overview", recorded, query), "Resumption rate"),
        tile(drawn_page("handshakes", recorded, query), "Resumed handshakes"),
        tile(drawn_page("resumption", recorded, query), "Resumed handshakes"),
    }
    assert len(shown) == 1
    assert "%" in shown.pop()


@pytest.mark.parametrize("query", deep_except(QUERIES[:1], QUERIES))
def test_the_unprotected_share_is_the_same_or_explained(
    drawn_page: Open, recorded: Path, query: dict[str, str]
) -> None:
    overview = tile(drawn_page("overview", recorded, query), "Unprotected")
    posture = drawn_page("posture", recorded, {**query, "posture_part": "Protection"})
    assert tile(posture, "Unprotected") == overview
    explained = words(drawn_page("ciphers", recorded, query)).replace("\\", "")
    assert f"certificates have {overview} without protection in zERT" in explained


def test_failed_handshakes_are_the_same_or_explained(drawn_page: Open, recorded: Path) -> None:
    [(failed, handshakes)] = sql(
        recorded, "SELECT sum(failed_handshakes), sum(handshakes) FROM handshake_mix"
    )
    assert tile(drawn_page("handshakes", recorded), "Failed") == f"{100 * failed / handshakes:.2f} %"
    page = drawn_page("ciphers", recorded)
    explained = words(page).replace("\\", "")
    assert f"and the page Handshakes {failed:,} failed in zERT details." in explained
    assert f"and {tile(page, 'Failed handshakes')} handshakes failed" in explained
