"""Read a report as a browser does: its elements, its tables, and whether anything in it could do harm."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise

VOID = frozenset({"meta", "br", "hr"})
ALLOWED = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "header",
        "footer",
        "section",
        "nav",
        "h1",
        "h2",
        "h3",
        "p",
        "a",
        "b",
        "ul",
        "li",
        "dl",
        "dt",
        "dd",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "data",
        "span",
        "div",
        "figure",
        "figcaption",
        "svg",
        "rect",
        "line",
        "circle",
        "path",
        "text",
        "code",
        "pre",
        "details",
        "summary",
    ]
)
ATTRIBUTES = frozenset(
    [
        "lang",
        "cx",
        "fill-opacity",
        "cy",
        "d",
        "overflow",
        "r",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
        "id",
        "href",
        "aria-label",
        "aria-hidden",
        "role",
        "scope",
        "value",
        "data-label",
        "data-part",
        "width",
        "height",
        "x",
        "y",
        "x1",
        "x2",
        "y1",
        "y2",
        "text-anchor",
        "transform",
    ]
)
UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)


@dataclass
class ReadCell:
    """A cell: what is read, and the number with all digits."""

    text: str = ""
    value: str | None = None


@dataclass
class ReadTable:
    """A table by its headings."""

    headings: list[str] = field(default_factory=list)
    rows: list[dict[str, ReadCell]] = field(default_factory=list)


class ReportReader(HTMLParser):
    """The elements of a page; raises an error for elements that are not closed in order."""

    def __init__(self, page: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.headings: list[tuple[int, str]] = []
        self.tables: dict[str, ReadTable] = {}
        self.style = ""
        self.words: list[str] = []
        self._open: list[str] = []
        self._table = ReadTable()
        self._cell = ReadCell()
        self.feed(page.decode())
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        known = {name: value or "" for name, value in attrs}
        self.attributes += [(tag, name, value) for name, value in known.items()]
        if tag not in VOID:
            self._open.append(tag)
        if tag == "table":
            self._table = self.tables[known["data-part"]] = ReadTable()
        elif tag == "tr":
            if self._table.headings:
                self._table.rows.append({})
        elif tag == "td":
            self._cell = self._table.rows[-1][known["data-label"]] = ReadCell()
        elif tag == "data":
            self._cell.value = known["value"]
        elif tag in {"h1", "h2", "h3"}:
            self.headings.append((int(tag[1]), ""))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        if inside == "style":
            self.style += data
            return
        self.words.append(data)
        if "td" in self._open:
            self._cell.text += data
        elif inside == "th":
            self._table.headings.append(data)
        elif inside in {"h1", "h2", "h3"}:
            level, text = self.headings[-1]
            self.headings[-1] = (level, text + data)

    @property
    def text(self) -> str:
        """All that is read."""
        return "".join(self.words)


def harmless(page: bytes) -> ReportReader:
    """Read a page, and see that nothing in it runs, loads anything or leads elsewhere."""
    read = ReportReader(page)
    assert read.tags <= ALLOWED
    assert {name for _, name, _ in read.attributes} <= ATTRIBUTES
    assert all(value.startswith("#") for _, name, value in read.attributes if name == "href")
    assert not re.search(r"url\(|@import|expression|image", read.style)
    [policy] = [value for _, name, value in read.attributes if name == "content" and "default-src" in value]
    digest = b64encode(sha256(read.style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert UNPRINTABLE.findall(read.text) == []
    assert UNPRINTABLE.findall("".join(value for *_, value in read.attributes)) == []
    levels = [level for level, _ in read.headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    links = {value[1:] for _, name, value in read.attributes if name == "href"}
    assert links <= {value for _, name, value in read.attributes if name == "id"}
    return read
