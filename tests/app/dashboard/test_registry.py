"""Pages are detected in their folder and have stable addresses."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, get_args

import pytest
from tests.app.dashboard.conftest import words

from zscope.app.dashboard import pages
from zscope.app.dashboard.registry import Area, registered_pages
from zscope.pipelines.store.parquet_files import parquet_tables

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.app.dashboard.conftest import Open

ADDRESSES = [
    "", "tls_price", "cpu_per_transaction", "handshakes", "resumption", "ranking", "posture", "ciphers",
    "policy", "benchmark", "compare", "practices", "mq_channels", "zvm_links", "ztpf_floods",
    "connections", "workbench", "fields", "quality", "cpu", "workload",
]  # fmt: skip
"""Readers have links to these addresses; a new page may stand between them."""
TOY = '''
"""A page in one file."""

import streamlit as st

from zscope.app.dashboard.registry import Page

PAGE = Page(title="Toy", icon="toys", area="Traffic", order=25)


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


def test_pages_are_in_seven_areas() -> None:
    areas = [page.area for page in registered_pages()]
    assert tuple(dict.fromkeys(areas)) == get_args(Area)
    assert areas == sorted(areas, key=get_args(Area).index)


def test_each_page_has_its_own_place_in_its_area() -> None:
    places = [(page.area, page.order) for page in registered_pages()]
    assert len(places) == len(set(places))


def test_needed_tables_are_declared() -> None:
    needed = {table for page in registered_pages() if page.needs for table in page.needs.tables}
    assert needed
    assert needed <= {*parquet_tables()}


def test_pages_of_other_systems_appear_with_their_data(drawn_page: Open, world: Path, systems: Path) -> None:
    others = {"mq_channels", "zvm_links", "ztpf_floods"}

    def named(store: Path) -> dict[str, str]:
        links = drawn_page("benchmark", store).get("page_link")
        return {link.proto.page: link.proto.label for link in links if link.proto.page in others}

    assert named(systems) == {page.name: page.title for page in registered_pages() if page.name in others}
    waiting = named(world)
    assert waiting.keys() == others
    assert waiting["zvm_links"] == "z/VM links (FCX112 and FCX215 of Performance Toolkit)"
    assert "appear with their data" in words(drawn_page("benchmark", world))
    assert "appear with their data" not in words(drawn_page("benchmark", systems))


def test_a_page_is_one_file(toy: str, open_page: Open, empty: Path) -> None:
    names = [page.name for page in registered_pages()]
    assert names.index(toy) == names.index("resumption") + 1
    page = open_page(toy, empty)
    assert page.title[0].value == "Toy"
    assert "0 loads in the toy" in words(page)
