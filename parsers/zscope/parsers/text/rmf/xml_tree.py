"""Build small trees from the tags of an XML document: one for each interval, report or message."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from zscope.parsers.text.spelling import nearly
from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

UNITS = frozenset({"postprocessor", "mfpmsg", "message"})
"""Elements that are returned as trees; the others around them are skipped."""
REPORTS_READ = frozenset({"CPU", "CRYPTO", "WLMGL"})
"""Metric IDs; the content of other reports is dropped."""
_CONTAINERS = frozenset({"version", "resource", "time-data", "segment", "part", "var-list", "table"})
"""Elements whose finished parts can be used even if their own end is missing."""

DEEPEST = 40
MOST_ELEMENTS = 100_000
MOST_TEXT = 8 << 20
LONGEST_TEXT = 1 << 16
"""The limits are far beyond the reports of one interval."""

_ROOT = "ddsml"
_PARENTS = {
    "row": ("table",),
    "table": ("part", "segment"),
    "part": ("segment",),
    "segment": ("postprocessor",),
}
"""Elements with which a damaged document can continue, and where they occur."""
RESUMED = (*_PARENTS, "postprocessor", "rmf-mfpmsg", _ROOT)
"""Elements whose tags are places to continue after damage."""
_RESUMED = frozenset(RESUMED)


class XmlLimitError(Error):
    """The document has something that no report has."""


class XmlNestingError(Error):
    """An element begins inside another one of its kind, whose end is missing."""


class MonitorThreeError(Error):
    """The document is a Monitor III report."""


@dataclass(slots=True)
class XmlElement:
    """An element with its children; its name is in lower case."""

    name: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list[XmlElement] = field(default_factory=list)
    damaged: bool = False
    """Whether parts of it are missing."""
    last_line: int = 0
    """The line of its end, of a unit."""

    def all(self, name: str) -> Iterator[XmlElement]:
        """Yield the children of this name."""
        return (child for child in self.children if child.name == name)

    def at(self, *path: str) -> XmlElement | None:
        """Return the first element at this path."""
        element: XmlElement | None = self
        for name in path:
            element = next(element.all(name), None) if element else None
        return element

    def text_at(self, *path: str) -> str:
        """Return the text of the first element at this path; empty if there is none."""
        element = self.at(*path)
        return element.text if element else ""

    def contents(self) -> tuple[object, ...]:
        """Return the name, text and children, without places, for comparison."""
        return self.name, self.text, tuple([child.contents() for child in self.children])

    def below(self, name: str) -> Iterator[XmlElement]:
        """Yield the elements of this name at any depth, in order."""
        waiting = self.children[::-1]
        while waiting:
            element = waiting.pop()
            if element.name == name:
                yield element
            else:
                waiting += element.children[::-1]


@lru_cache(maxsize=256)
def plain_name(tag: str) -> str:
    """Return the name of an element without its namespace, in lower case."""
    return tag.rpartition(":")[2].lower()


class XmlTree:
    """Builds trees; the parser calls `start`, `end` and `text`."""

    def __init__(self, line: Callable[[], int]) -> None:
        self._line = line
        """Returns the line of the current tag."""
        self.path: list[str] = []
        """The tags of all open elements, as printed."""
        self.closed = False
        """Whether the root element has ended."""
        self.finished: deque[XmlElement] = deque()
        self._open: list[XmlElement] = []
        self._unread = False
        """Whether the current report is one that is dropped."""
        self._elements = self._characters = 0
        self._units = 0
        self._unit_depth = 0

    def unfinished(self) -> XmlElement | None:
        """Return the complete parts of the tree in which the document breaks off."""
        if not self._open or self._unread:
            return None
        self._cut_to(0)
        return self._open[0]

    def continue_at(self, name: str, *, end: bool) -> bool:
        """Remove the elements that are open after damage, so that a tag fits; return False if it cannot.

        `end` is true for an end tag.
        """
        if name == _ROOT:
            self._finish_unit()
            self.path = self.path[:1] if end else []
            return bool(self.path) or not end
        if name not in _PARENTS and not end:
            self._finish_unit()
            self.path = self.path[: max(1, self._unit_depth - 1)] or [_ROOT]
            return True
        parents = (name,) if end else _PARENTS[name]
        places = [number for number, element in enumerate(self._open) if element.name in parents]
        if not places:
            return False
        self._cut_to(places[-1])
        self._open[0].damaged = True
        self.path = self.path[: self._unit_depth - 1 + len(self._open)]
        return True

    def _cut_to(self, number: int) -> None:
        """Remove the innermost open elements; finished parts of containers remain."""
        while len(self._open) - 1 > number:
            inner = self._open.pop()
            if inner.name in _CONTAINERS:
                self._open[-1].children.append(inner)

    def _finish_unit(self) -> None:
        if self._open:
            self._cut_to(0)
            self._open[0].damaged = True
            self._finish(self._open.pop())
            self._unread = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        name = plain_name(tag)
        if name in _RESUMED and any(element.name == name for element in self._open):
            raise XmlNestingError(f"{name} begins again before its end")
        self.path.append(tag)
        if len(self.path) > DEEPEST:
            raise XmlLimitError(f"elements are nested deeper than {DEEPEST}")
        if not self._open:
            self._outside(name, attributes)
            return
        if self._unread:
            return
        self._elements += 1
        if self._elements > MOST_ELEMENTS:
            raise XmlLimitError(f"a report has more than {MOST_ELEMENTS:,} elements")
        element = self._element(name, attributes)
        if name == "metric" and len(self._open) == 1 and not _is_read(element):
            self._unread = True
            self._open[0].children.append(element)
        else:
            self._open.append(element)

    def _outside(self, name: str, attributes: dict[str, str]) -> None:
        if name == "report" and len(self.path) <= 2:
            if not self._units:
                raise MonitorThreeError
            self.finished.append(self._element(name, attributes))
        if name in UNITS and len(self.path) > 1:
            self._units += name == "postprocessor"
            self._elements = self._characters = 0
            self._unit_depth = len(self.path)
            self._open.append(self._element(name, attributes))

    def _element(self, name: str, attributes: dict[str, str]) -> XmlElement:
        if attributes:
            attributes = {key.lower(): value for key, value in attributes.items()}
        return XmlElement(name, attributes, self._line())

    def end(self, _: str) -> None:
        """End the innermost element."""
        self.path.pop()
        if not self.path:
            self.closed = True
        if not self._open or (self._unread and len(self.path) >= self._unit_depth):
            return
        self._unread = False
        element = self._open.pop()
        element.text = element.text.strip()
        if self._open:
            self._open[-1].children.append(element)
        else:
            self._finish(element)

    def _finish(self, unit: XmlElement) -> None:
        unit.last_line = self._line()
        self.finished.append(unit)

    def text(self, data: str) -> None:
        """Add text to the innermost element."""
        if not self._open or self._unread:
            return
        element = self._open[-1]
        if not element.text and data.isspace():
            return
        self._characters += len(data)
        element.text += data
        if self._characters > MOST_TEXT or len(element.text) > LONGEST_TEXT:
            raise XmlLimitError("a text is far longer than in any report")


def _is_read(metric: XmlElement) -> bool:
    """Return whether a metric names a report that is read, perhaps with a wrong character."""
    report = metric.attributes.get("id", "").strip().upper()
    return report in REPORTS_READ or nearly(report, REPORTS_READ) is not None
