"""Pages are detected in their folder and have stable addresses."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from tests.app.dashboard.conftest import words

from zscope.app.dashboard import pages
from zscope.app.dashboard.registry import registered_pages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.app.dashboard.conftest import Open

ADDRESSES = [
    "", "tls_price", "ranking", "policy", "cpu_per_transaction", "handshakes", "resumption", "ciphers",
    "posture", "benchmark", "compare", "practices", "mq_channels", "zvm_links", "ztpf_floods",
    "connections", "cpu", "workload", "quality", "workbench", "fields",
]  # fmt: skip
"""Readers have links to these addresses; a new page may stand between them."""
TOY = '''
"""A page in one file."""

import streamlit as st

from zscope.app.dashboard.registry import Page

PAGE = Page(title="Toy", icon="toys", section="Toys", order=45)


def render(data):
    [row] = data.rows("SELECT count(*) AS loads FROM load").to_pylist()
    st.markdown(f"{row['loads']} loads in the toy")
'''


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A page in a folder of its own, which is added to the pages."""
    (tmp_path / "toy.py").write_text(TOY, encoding="utf-8")
    monkeypatch.setattr(pages, "__path__", [*pages.__path__, str(tmp_path)])
    yield "toy"
    sys.modules.pop(f"{pages.__name__}.toy", None)


def test_pages_keep_their_addresses_and_order() -> None:
    assert [page.address for page in registered_pages() if page.address in ADDRESSES] == ADDRESSES
    assert registered_pages()[0].name == "overview"


def test_sections_of_the_navigation_are_not_interrupted() -> None:
    sections = [page.section for page in registered_pages()]
    assert list(dict.fromkeys(sections)) == ["TLS", "Benchmark", "Other systems", "Data"]
    assert sections == sorted(sections, key=list(dict.fromkeys(sections)).index)


def test_each_page_has_its_own_place_in_the_order() -> None:
    orders = [page.order for page in registered_pages()]
    assert len(orders) == len(set(orders))


def test_a_page_is_one_file(toy: str, open_page: Open, empty: Path) -> None:
    names = [page.name for page in registered_pages()]
    assert names.index(toy) == names.index("resumption") + 1
    page = open_page(toy, empty)
    assert page.title[0].value == "Toy"
    assert "0 loads in the toy" in words(page)
