"""Links in all documents lead to files and headings that exist, and the site contains every document."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FOLDER_PAGES = ("schemas/README.md", "pipelines/README.md")
OUTSIDE_DOCS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", *FOLDER_PAGES)
DOCUMENTS = sorted([*OUTSIDE_DOCS, *(path.relative_to(ROOT).as_posix() for path in DOCS.rglob("*.md"))])
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


def dead_links(document: Path, text: str) -> list[str]:
    """Return the links of a document whose file or heading does not exist."""
    dead = []
    for target in links(text):
        path, _, anchor = unquote(target).partition("#")
        file = (document.parent / path).resolve() if path else document
        inside = file == ROOT or ROOT in file.parents
        if not inside or not file.exists() or (anchor and anchor not in anchors(file)):
            dead.append(target)
    return dead


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    path = ROOT / document
    assert dead_links(path, path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    "target",
    ["missing.md", "inputs.md#no-such-heading", "#no-such-heading", "images/none.png", "../../outside.md"],
)
def test_dead_links_are_noticed(target: str) -> None:
    assert dead_links(DOCS / "sql.md", f"A [link]({target}) and a [good one](inputs.md#smf-dumps).") == [
        target
    ]


@pytest.mark.parametrize("document", [path for path in DOCUMENTS if path.startswith("docs/")])
def test_documents_of_the_site_link_only_to_files_of_the_site(document: str) -> None:
    path = ROOT / document
    targets = [unquote(target).partition("#")[0] for target in links(path.read_text("utf-8"))]
    assert [each for each in targets if each and DOCS not in (path.parent / each).resolve().parents] == []


def _pages(entries: list[dict[str, Any]]) -> Iterator[str]:
    for entry in entries:
        for target in entry.values():
            if isinstance(target, str):
                yield target
            else:
                yield from _pages(target)


def test_the_navigation_of_the_site_has_every_document_once() -> None:
    pages = list(_pages(SITE["nav"]))
    assert len(pages) == len(set(pages))
    assert set(pages) == {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}, (
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
    names = {*listed["page"], *listed["terminal"], *(f"metrics/{name}" for name in listed["metric"])}
    assert {f"{name}.png" for name in names} == {
        path.relative_to(images).as_posix() for path in images.rglob("*.png")
    }, "make pictures"
