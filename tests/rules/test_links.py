"""Links in all documents lead to files and headings that exist, and the site contains every page."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest

from zscope.app.docs import write_site

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FOLDER_PAGES = ("benchmarks/README.md", "schemas/README.md", "pipelines/README.md")
OUTSIDE_DOCS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", *FOLDER_PAGES)
HANDBOOK = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
SITE: dict[str, Any] = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]
_FENCED = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_LINK = re.compile(r"\]\(\s*([^)\s]+)\s*\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)


@cache
def anchors(document: Path) -> frozenset[str]:
    """Return the anchors of the headings, as GitHub and the site name them."""
    seen: dict[str, int] = {}
    names = set()
    for heading in _HEADING.findall(_FENCED.sub("", document.read_text("utf-8"))):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", text.replace("`", "").lower()).replace(" ", "-")
        names.add(f"{slug}-{seen[slug]}" if slug in seen else slug)
        seen[slug] = seen.get(slug, 0) + 1
    return frozenset(names)


def links(text: str) -> list[str]:
    """Return the targets of links and pictures that lead to files of the project."""
    shown = _CODE.sub("", _FENCED.sub("", text))
    return [target for target in _LINK.findall(shown) if not re.match(r"\w+:", target)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of the site, with those that are rendered from the code."""
    folder = tmp_path_factory.mktemp("site") / "pages"
    write_site(folder)
    return folder


def dead_links(document: Path, text: str, top: Path = ROOT) -> list[str]:
    """Return the links of a document whose file, below a folder, or whose heading does not exist."""
    dead = []
    for target in links(text):
        path, _, anchor = unquote(target).partition("#")
        file = (document.parent / path).resolve() if path else document
        inside = file == top or top in file.parents
        if not inside or not file.exists() or (anchor and anchor not in anchors(file)):
            dead.append(target)
    return dead


@pytest.mark.parametrize("document", OUTSIDE_DOCS)
def test_links_lead_somewhere(document: str) -> None:
    path = ROOT / document
    assert dead_links(path, path.read_text("utf-8")) == []


@pytest.mark.parametrize("page", HANDBOOK)
def test_links_of_the_handbook_lead_somewhere_in_the_checkout_and_in_the_site(page: str) -> None:
    # The site has a copy of the folder, but the folder has no rendered pages.
    assert dead_links(DOCS / page, (DOCS / page).read_text("utf-8"), DOCS) == []


def test_links_of_rendered_pages_lead_to_pages_of_the_site(site: Path) -> None:
    rendered = sorted((site / "reference").rglob("*.md"))
    assert len(rendered) > 20
    dead = {page.name: dead_links(page, page.read_text("utf-8"), site) for page in rendered}
    assert {page: targets for page, targets in dead.items() if targets} == {}


@pytest.mark.parametrize(
    "target",
    [
        "missing.md",
        "capture.md#no-such-heading",
        "#no-such-heading",
        "images/none.png",
        "../README.md",
        "reference/metrics/none.md",
        "reference/metrics/price.md#none",
    ],
)
def test_dead_links_are_noticed(target: str, site: Path) -> None:
    good = "[Two](capture.md#smf-dumps) [good ones](reference/metrics/price.md#tls_price)"
    text = f"A [link]({target}). {good}."
    assert dead_links(site / "sql.md", text, site) == [target]


def _pages(entries: list[dict[str, Any]]) -> Iterator[str]:
    for entry in entries:
        for target in entry.values():
            if isinstance(target, str):
                yield target
            else:
                yield from _pages(target)


def test_the_navigation_of_the_site_has_every_page_once(site: Path) -> None:
    pages = list(_pages(SITE["nav"]))
    assert len(pages) == len(set(pages))
    assert set(pages) == {path.relative_to(site).as_posix() for path in site.rglob("*.md")}, (
        "zensical.toml, nav"
    )


def test_the_site_needs_nothing_from_elsewhere() -> None:
    assert SITE["theme"]["font"] is False
    assert SITE["use_directory_urls"] is False
    scripts = [entry["path"] for entry in SITE["extra"]["polyfills"]]
    assert scripts
    assert all((DOCS / script).is_file() for script in scripts)


def test_every_picture_of_the_list_exists_and_no_other() -> None:
    images = DOCS / "images"
    listed = tomllib.loads((images / "pictures.toml").read_text("utf-8"))
    names = {*listed["page"], *(f"metrics/{name}" for name in listed["metric"])}
    assert {f"{name}.png" for name in names} == {
        path.relative_to(images).as_posix() for path in images.rglob("*.png")
    }, "make pictures"
