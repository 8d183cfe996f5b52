"""The elements of the page: a tree, which is written as HTML with every text escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, tostring

from zscope.app.shared.plain_texts import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST = 1_200
"""Characters of a text from the data; a longer one is cut."""


def add(parent: Element, tag: str, text: object = "", /, **attributes: object) -> Element:
    """Add an element with a text in one line; `class_` is the attribute `class`, `data_` begins `data-`."""
    named = {_name(name): one_line(value, LONGEST) for name, value in attributes.items() if value is not None}
    child = SubElement(parent, tag, named)
    child.text = one_line(text, LONGEST)
    return child


def add_lines(parent: Element, tag: str, text: str, /, **attributes: object) -> Element:
    """Add an element with a text of the project that has several lines."""
    child = add(parent, tag, **attributes)
    child.text = text
    return child


def add_text(parent: Element, text: object) -> None:
    """Add a text after the last child of an element."""
    words = one_line(text, LONGEST)
    if len(parent):
        parent[-1].tail = f"{parent[-1].tail or ''}{words}"
    else:
        parent.text = f"{parent.text or ''}{words}"


def document(title: str, metas: Mapping[str, str], policy: str, style: str) -> tuple[Element, Element]:
    """Return the root and the body of a page in English."""
    root = Element("html", {"lang": "en"})
    head = SubElement(root, "head")
    SubElement(head, "meta", {"charset": "utf-8"})
    SubElement(head, "meta", {"http-equiv": "Content-Security-Policy", "content": policy})
    for name, content in metas.items():
        add_meta(root, name, content)
    add(head, "title", title)
    SubElement(head, "style").text = style
    return root, SubElement(root, "body")


def add_meta(root: Element, name: str, content: str) -> None:
    """Add an element to the head of a page, for programs."""
    SubElement(root[0], "meta", {"name": name, "content": content})


def written(root: Element) -> bytes:
    """Return the page as bytes."""
    for row in root.iter():
        if row.tag in _LINES:
            row.tail = "\n"
    return b"<!DOCTYPE html>\n" + tostring(root, encoding="unicode", method="html").encode() + b"\n"


_LINES = frozenset(
    {"section", "table", "tr", "figure", "h1", "h2", "h3", "p", "dl", "dd", "li", "div", "header", "head"}
)
"""Elements after which a line ends."""


def _name(name: str) -> str:
    return "class" if name == "class_" else name.replace("_", "-")
