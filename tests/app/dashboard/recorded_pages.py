"""Pages without Streamlit: a page writes its tables, tiles and texts into a record instead of a browser.

Streamlit and charts take most of the time of a page. Without them, statements can be compared with the pages
of many stores and filters. Charts are left out; the tables below them are not.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import fromstring

import streamlit

from zscope.app.dashboard import drawing, figure_cards, links, over_time
from zscope.app.dashboard.registry import registered_pages
from zscope.app.shared.filters import Filters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa
    import pytest

    from zscope.app.dashboard.page_data import PageData

Row = dict[str, Any]

_DASHBOARD = "zscope.app.dashboard."


@dataclass(slots=True)
class RecordedPage:
    """What a reader of a page sees, without its charts."""

    tables: list[tuple[tuple[str, ...], list[Row]]] = field(default_factory=list)
    """The columns that are shown, and the rows."""
    tiles: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def tables_with(self, *columns: str) -> list[list[Row]]:
        """Return the rows of the tables that show these columns, with the columns that a reader sees."""
        return [
            [{name: row[name] for name in shown} for row in rows]
            for shown, rows in self.tables
            if {*columns} <= {*shown}
        ]


@dataclass
class PageRecorder:
    """Draws pages into records; charts, links and what only Streamlit needs do nothing."""

    patch: pytest.MonkeyPatch

    def __post_init__(self) -> None:
        """Replace Streamlit and Altair in all modules of the dashboard."""
        self._streamlit = _Streamlit()
        self._pages = {page.name: page for page in registered_pages()}
        opened = {
            drawing.folded: drawing.folded.__wrapped__,  # type: ignore[attr-defined] # of a fragment
            figure_cards._more: figure_cards._more.__wrapped__,  # type: ignore[attr-defined]
            drawing.draw_chart: _nothing,
            links.page_link: _nothing,
            links.title_link: _nothing,
            over_time.marked_chart: lambda *_: _UNMARKED,
        }
        for name, module in [*sys.modules.items()]:
            if name.startswith(_DASHBOARD):
                for attribute, value in [*vars(module).items()]:
                    if attribute == "st":
                        self.patch.setattr(module, attribute, self._streamlit)
                    elif attribute == "alt":
                        self.patch.setattr(module, attribute, _NOTHING)
                    elif callable(value) and value in opened:
                        self.patch.setattr(module, attribute, opened[value])

    def page(self, name: str, parameters: Mapping[str, str], data: PageData) -> RecordedPage:
        """Return a page for data, with the parameters of its address; one without filters shows all data."""
        self._streamlit.begin(parameters)
        page = self._pages[name]
        page.render(data if page.filtered else replace(data, filters=Filters()))
        return self._streamlit.page


class _Streamlit:
    """The functions of Streamlit that write or ask for something; it is its own containers, too.

    What is asked for is as in the address or, like for a reader who touches nothing, as at first.
    """

    column_config = streamlit.column_config
    open = True

    def begin(self, parameters: Mapping[str, str]) -> None:
        self.page = RecordedPage()
        self.session_state: dict[str, Any] = {}
        self._parameters = parameters

    def __enter__(self) -> _Streamlit:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def _part(self, *_: object, **_options: object) -> _Streamlit:
        return self

    container = expander = popover = spinner = _part

    def columns(self, widths: int | Sequence[float], **_: object) -> list[_Streamlit]:
        return [self] * (widths if isinstance(widths, int) else len(widths))

    def _ignored(self, *_: object, **_options: object) -> None:
        return None

    download_button = button = space = divider = badge = _ignored

    def _text(self, text: object, **_: object) -> None:
        self.page.texts.append(str(text))

    def html(self, body: str) -> None:
        self.page.texts += [*fromstring(body).itertext()]

    title = header = subheader = markdown = caption = info = warning = success = text = code = _text

    def metric(self, title: str, value: object, **_: object) -> None:
        self.page.tiles.append(str(value))
        self._text(title)

    def dataframe(
        self,
        rows: pa.Table,
        column_order: Sequence[str] | None = None,
        **_: object,
    ) -> dict[str, Any]:
        shown = rows.column_names if column_order is None else column_order
        present = tuple(name for name in shown if name in rows.column_names)
        self.page.tables.append((present, rows.to_pylist()))
        return {"selection": {"rows": []}}

    def table(self, cells: Mapping[str, Sequence[object]], **_: object) -> None:
        self.page.texts += [str(cell) for column in cells.values() for cell in column]

    def segmented_control(
        self,
        _: str,
        options: Sequence[Any],
        *,
        key: str,
        default: object = None,
        **choice: Any,  # noqa: ANN401
    ) -> object:
        return self._chosen(key, options, choice.get("format_func"), default)

    def selectbox(
        self,
        _: str,
        options: Sequence[Any],
        index: int | None = 0,
        *,
        key: str,
        **choice: Any,  # noqa: ANN401
    ) -> object:
        default = None if index is None or not options else options[index]
        return self._chosen(key, options, choice.get("format_func"), default)

    def _chosen(
        self, key: str, options: Sequence[Any], words: Callable[[Any], str] | None, default: object
    ) -> object:
        if key not in self._parameters:
            return default
        [chosen] = [each for each in options if (words or str)(each) == self._parameters[key]]
        return chosen

    def number_input(self, _: str, *, value: float | None, **_options: object) -> float | None:
        return value

    def slider(self, _: str, _least: int, _most: int, value: int, *_rest: object, **_options: object) -> int:
        return value


class _Nothing:
    """Stands for a chart and all that it is made with."""

    def __getattr__(self, _: str) -> _Nothing:
        return self

    def __call__(self, *_: object, **_options: object) -> _Nothing:
        return self

    def __add__(self, _: object) -> _Nothing:
        return self


_NOTHING: Any = _Nothing()
_UNMARKED = over_time.MarkedChart(_NOTHING, _NOTHING, ())


def _nothing(*_: object, **_options: object) -> None:
    return None
