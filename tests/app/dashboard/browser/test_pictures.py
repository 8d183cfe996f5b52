"""The pictures of the documents: `make pictures` writes them, the tests compare their sizes."""

from __future__ import annotations

import os
import struct
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.app.dashboard.browser.conftest import Reader

pytestmark = pytest.mark.browser
IMAGES = Path(__file__).resolve().parents[4] / "docs" / "images"
LISTED: dict[str, dict[str, dict[str, Any]]] = tomllib.loads((IMAGES / "pictures.toml").read_text("utf-8"))
WRITE = os.environ.get("ZSCOPE_PICTURES") == "write"


@dataclass(frozen=True, slots=True)
class Album:
    """Where the pictures of this test session are written."""

    folder: Path

    def path(self, name: str) -> Path:
        path = (IMAGES if WRITE else self.folder) / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def check(self, name: str) -> None:
        """See that a picture is not empty, and that the documents have one of about its width."""
        taken, shown = size(self.path(name)), size(IMAGES / f"{name}.png")
        assert min(taken) > 60
        assert abs(taken[0] - shown[0]) < 0.2 * shown[0], "make pictures"


def size(path: Path) -> tuple[int, int]:
    """Return width and height of a PNG file."""
    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    return width, height


@pytest.fixture(scope="module")
def album(tmp_path_factory: pytest.TempPathFactory) -> Album:
    return Album(tmp_path_factory.mktemp("pictures"))


@pytest.fixture
def narrow(reader: Reader) -> Iterator[Reader]:
    """A reader with a window as wide as the pictures of pages."""
    reader.page.set_viewport_size({"width": 1440, "height": 1000})
    yield reader
    reader.fine()


@pytest.mark.parametrize("name", LISTED["page"])
def test_picture_of_a_page(name: str, narrow: Reader, album: Album) -> None:
    entry = LISTED["page"][name]
    narrow.page.set_viewport_size({"width": 1440, "height": entry["height"]})
    narrow.open(entry["page"])
    narrow.page.wait_for_timeout(3000 if WRITE else 800)  # charts are drawn after the page is there
    narrow.page.screenshot(path=album.path(name))
    album.check(name)


def charts_by_page() -> dict[str, dict[str, str]]:
    """Return the pictures of metrics by the page they are on."""
    pages: dict[str, dict[str, str]] = {}
    for name, entry in LISTED["metric"].items():
        pages.setdefault(entry["page"], {})[name] = entry["chart"]
    return pages


@pytest.mark.parametrize("page", charts_by_page())
def test_pictures_of_metrics(page: str, narrow: Reader, album: Album) -> None:
    address, _, query = page.partition("?")
    narrow.open(address, f"?{query}" if query else "")
    for name, words in charts_by_page()[page].items():
        chart = narrow.page.locator(f'[data-testid=stVegaLiteChart][aria-label^="{words}"]').first
        chart.wait_for(timeout=60_000)
        narrow.page.wait_for_timeout(500)
        chart.screenshot(path=album.path(f"metrics/{name}"))
        album.check(f"metrics/{name}")
