"""The filter bar that pages share, and the values that it offers.

What is chosen is part of the address, and each chosen value is a chip in the bar that removes it. A value of
an address that the data do not have is applied, and leaves no rows; one that no record can have is not, and
its chip says so. Nothing is dropped before the reader has seen it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any

import streamlit as st

from zscope.app.dashboard.drawing import clean, plain
from zscope.app.dashboard.filter_address import (
    filters_in_address,
    forget_filter,
    known_filters,
    newly_asked_for,
    remember_filters,
)
from zscope.app.dashboard.filter_choices import MOST_OFFERED, Choices
from zscope.app.dashboard.period import (
    ALL,
    ALL_DAYS,
    ONE_DAY,
    WANTED,
    Period,
    read_period,
    relative_periods,
    show_days,
)
from zscope.app.shared.filters import COMPARISONS, ROLES, Filters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_LAST_PORT = 65_535
_CHOSEN = {"system": "System", "stack": "Stack", "port": "Port", "job": "Job", "role": "Role"}
"""The filters of which several values can be chosen, with their names."""
_WITH_RUNS = ("with",)
"""The value in the address if hours with benchmark runs count."""
_WORDS = "period_in_words"
"""In the session: the button of the period."""
_COMPARED = "compared_wanted"
"""In the session: what the reader has just chosen to compare with, as in the address."""
_WIDTH_PX = 320
_MOST_CHIPS = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """What an address asks for."""

    values: dict[str, tuple[str, ...]]
    """The values of each filter; also those that no loaded record has: they leave no rows."""
    period: Period
    with_runs: bool
    compared_with: tuple[str, ...]
    """What figures are compared with, one value, or empty."""
    refused: tuple[tuple[str, str, str], ...]
    """Filter, value and reason of what is not applied, such as a port that is no number."""

    def filters(self, choices: Choices) -> Filters:
        """Return what queries need."""
        return with_period(
            Filters(
                None, None, self.values["system"], self.values["stack"],
                tuple(map(int, self.values["port"])), self.values["job"], self.values["role"],
                with_runs=self.with_runs, compared_with=next(iter(self.compared_with), ""),
            ), self.period, choices,
        )  # fmt: skip

    def address(self) -> dict[str, tuple[str, ...]]:
        """Return the parameters of the address; what is refused stays until the reader removes it."""
        runs = _WITH_RUNS if self.with_runs else ()
        chosen = {
            **self.values, "period": self.period.address, "runs": runs, "compare": self.compared_with,
        }  # fmt: skip
        return {
            name: (*values, *(value for filtered, value, _ in self.refused if filtered == name))
            for name, values in chosen.items()
        }


def read_address(asked: Mapping[str, Sequence[str]], choices: Choices) -> Asked:
    """Return what an address asks for, sorted into what is applied and what cannot be."""
    given = {name: tuple(dict.fromkeys(values)) for name, values in asked.items()}
    values = {
        name: tuple(value for value in given.get(name, ()) if _possible(name, value)) for name in _CHOSEN
    }
    period = read_period(given.get("period", ()), choices)
    no_time = "is not applied: no loaded data have a time"
    refused = [
        *((name, value, f"is no {name}, not applied") for name in _CHOSEN for value in given.get(name, ())
          if value not in values[name]),
        *(("period", value, "is no period, not applied" if choices.first_day else no_time)
          for value in given.get("period", ()) if period is None),
        *(("runs", value, "is no choice of runs, not applied") for value in given.get("runs", ())
          if value not in _WITH_RUNS),
        *(("compare", value, "is no period to compare with, not applied")
          for value in given.get("compare", ()) if not _comparable(value)),
    ]  # fmt: skip
    # A store without runs has none to count.
    with_runs = choices.has_runs and {*given.get("runs", ())} >= {*_WITH_RUNS}
    compared = tuple(filter(_comparable, given.get("compare", ())))[:1]
    return Asked(values, period or ALL_DAYS, with_runs, compared, tuple(refused))


def _comparable(value: str) -> bool:
    """Whether figures can be compared with it: a period by its name, or that which begins on a day."""
    try:
        return value in COMPARISONS or date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _possible(name: str, value: str) -> bool:
    """Whether a record can have this value of a filter."""
    if name == "port":
        return value.isascii() and value.isdecimal() and str(int(value)) == value and int(value) <= _LAST_PORT
    return value in ROLES if name == "role" else bool(value)


def filters_of_address(choices: Choices) -> Filters:
    """Return the filters that the address of a page without a bar carries."""
    return read_address(filters_in_address(), choices).filters(choices)


def with_period(filters: Filters, period: Period, choices: Choices) -> Filters:
    """Return filters with a period."""
    if period.begin or not period.days:
        return replace(filters, begin=period.begin, end=period.end, first_day=None, last_day=None)
    begin, _ = choices.midnights(period.days[0], filters.systems)
    _, end = choices.midnights(period.days[-1] + ONE_DAY, filters.systems)
    return replace(filters, begin=begin, end=end, first_day=period.days[0], last_day=period.days[-1])


def filter_bar(choices: Choices) -> Filters:
    """Draw the bar, one row with what is chosen, and return it."""
    offered = _offered(choices)
    nothing_loaded = choices.first_utc is None and not any(
        offered[name] for name in offered.keys() - {"role"}
    )
    asked = read_address({} if nothing_loaded else _wanted(), choices)
    _give_widgets(asked)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="filter-bar"):
        if choices.first_day is not None and choices.last_day is not None:
            _period_by_words(choices, asked.period)
            _period_by_days(choices.first_day, choices.last_day, asked.period)
            _other_period(asked)
        with st.popover("Filters", icon=":material/tune:", key="filters"):
            for name in _CHOSEN:
                _several(name, offered[name], asked.values[name])
            if choices.has_runs:
                st.toggle(
                    "Benchmark runs", key="runs", help="Count hours with benchmark runs in shares and rates. "
                    "They say nothing about production.",
                )  # fmt: skip
        _chips(choices, offered, asked)
    if nothing_loaded:
        return Filters()
    remember_filters(asked.address())
    return asked.filters(choices)


def _offered(choices: Choices) -> dict[str, tuple[str, ...]]:
    return {
        "system": choices.systems, "stack": choices.stacks, "port": tuple(map(str, choices.ports)),
        "job": choices.jobs, "role": ROLES,
    }  # fmt: skip


def _wanted() -> dict[str, list[str]]:
    """What a new address asks for, or what was chosen before, with what the reader has just changed."""
    asked, known = newly_asked_for(), known_filters()
    changed = {"period": st.session_state.pop(WANTED, None), "compare": st.session_state.pop(_COMPARED, None)}
    if asked is not None:
        return asked
    wanted = {**known, **{name: list(values) for name, values in changed.items() if values is not None}}
    for name in _CHOSEN:
        if name in st.session_state:
            refused = [value for value in known.get(name, ()) if not _possible(name, value)]
            wanted[name] = [*st.session_state[name], *refused]
    if "runs" in st.session_state:
        refused = [value for value in known.get("runs", ()) if value not in _WITH_RUNS]
        wanted["runs"] = [*(_WITH_RUNS if st.session_state["runs"] else ()), *refused]
    return wanted


def _give_widgets(asked: Asked) -> None:
    for name, values in asked.values.items():
        st.session_state[name] = list(values)
    st.session_state["runs"] = asked.with_runs
    compared = next(iter(asked.compared_with), None)
    st.session_state["compare"] = compared if compared in COMPARISONS else None
    is_day = compared is not None and compared not in COMPARISONS
    st.session_state["compare_day"] = date.fromisoformat(compared) if compared and is_day else None
    st.session_state["period"] = asked.period.days
    st.session_state[_WORDS] = asked.period.words or None


def _period_by_words(choices: Choices, period: Period) -> None:
    """Buttons for all days and for the periods relative to the newest data."""
    if choices.first_day is None or choices.newest_day is None:
        return
    relative = relative_periods(choices.first_day, choices.newest_day)
    more = [period.words] if period.words not in {"", ALL, *relative} else []
    st.pills(
        "Period of the data", [ALL, *relative, *more], key=_WORDS, on_change=_words_chosen,
        label_visibility="collapsed", format_func=_written, width="content",
        help=f"Relative to the newest day with TLS data, now {choices.newest_day}; a bookmark moves with the "
        "data.",
    )  # fmt: skip


def _written(words: str) -> str:
    return "All days" if words == ALL else words[:1].upper() + words[1:]


def _words_chosen() -> None:
    words = st.session_state[_WORDS]
    st.session_state[WANTED] = () if words in {None, ALL} else (words,)


def _period_by_days(first: date, last: date, period: Period) -> None:
    """The days that are shown, as a button that opens their calendar."""
    begin, end = (period.days[0], period.days[-1]) if period.days else (first, last)
    untouched: list[Any] = []
    with st.popover(_days(begin, end), icon=":material/calendar_month:", key="days"):
        st.date_input(
            "Period", untouched, min_value=min(first, begin), max_value=max(last, end), key="period",
            format="YYYY-MM-DD", width=_WIDTH_PX, on_change=_days_chosen,
            help="From the first to the last day, both included, on the clocks of the systems. Empty: all "
            f"days, now {first} to {last}, and those that are loaded later.",
        )  # fmt: skip


def _other_period(asked: Asked) -> None:
    """The period that figures are compared with, as a button that opens the choice."""
    without_period = asked.period == ALL_DAYS
    with st.popover("Compare", icon=":material/compare_arrows:", key="compared", disabled=without_period):
        st.pills("Compare with", COMPARISONS, key="compare", on_change=_compare, args=("compare",))
        st.date_input(
            "or with the same time from this day on", None, key="compare_day", format="YYYY-MM-DD",
            width=_WIDTH_PX, on_change=_compare, args=("compare_day",),
        )  # fmt: skip


def _compare(key: str) -> None:
    chosen = st.session_state[key]
    st.session_state[_COMPARED] = () if chosen is None else (str(chosen),)


def _days(begin: date, end: date) -> str:
    return f"{begin}" if begin == end else f"{begin} to {end}"


def _days_chosen() -> None:
    st.session_state[WANTED] = tuple(day.isoformat() for day in st.session_state["period"])


def _several(name: str, offered: Sequence[str], chosen: Sequence[str]) -> None:
    options = [*offered, *(value for value in chosen if value not in offered)]
    st.multiselect(
        _CHOSEN[name], options, key=name, format_func=clean, placeholder="all", width=_WIDTH_PX,
        disabled=not options,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Chip:
    """A chosen value, as a button that removes it."""

    name: str
    value: str
    words: str


def chips_of(asked: Asked, offered: Mapping[str, Sequence[str]]) -> list[Chip]:
    """Return a chip for each chosen value; first those that leave no rows or are refused."""
    refused = [Chip(name, value, f"{plain(value) or 'Nothing'} {why}") for name, value, why in asked.refused]
    chosen = [(name, value) for name, values in asked.values.items() for value in values]
    unknown = [
        Chip(name, value, f"{_CHOSEN[name]} {plain(value)}: {_absence(len(offered[name]))}")
        for name, value in chosen
        if value not in offered[name]
    ]
    known = [
        Chip(name, value, f"{_CHOSEN[name]} {plain(value)}")
        for name, value in chosen
        if value in offered[name]
    ]
    runs = [Chip("runs", *_WITH_RUNS, "With benchmark runs")] if asked.with_runs else []
    needs = " needs a chosen period" if asked.period == ALL_DAYS else ""
    compared = [Chip("compare", value, f"Compared with {value}{needs}") for value in asked.compared_with]
    return [*refused, *unknown, *compared, *known, *runs]


def _absence(offered: int) -> str:
    return "not in the data" if offered < MOST_OFFERED else f"not among the {MOST_OFFERED:,} busiest"


def _chips(choices: Choices, offered: Mapping[str, Sequence[str]], asked: Asked) -> None:
    """Draw what is chosen, and the way from a period without data to the nearest day that has some."""
    if nearest := _beside(asked.period, choices):
        st.button(
            f"No data in this period: show {nearest}", key="nearest-day", icon=":material/event_upcoming:",
            on_click=show_days, args=(nearest, nearest),
        )  # fmt: skip
    chips = chips_of(asked, offered)
    for chip in chips[:_MOST_CHIPS]:
        st.button(
            chip.words, key=f"remove-{chip.name}-{chip.value}", icon=":material/close:", on_click=_remove,
            args=(chip.name, chip.value), help="Remove this filter",
        )  # fmt: skip
    if len(chips) > _MOST_CHIPS:
        st.caption(f"and {len(chips) - _MOST_CHIPS} more", width="content")


def _beside(period: Period, choices: Choices) -> date | None:
    """The first or last day of the data if a period does not reach them, whichever is nearer."""
    first, last = choices.first_day, choices.last_day
    if first is None or last is None:
        return None
    begin = period.begin.date() if period.begin else next(iter(period.days), None)
    end = period.end.date() if period.end else next(iter(period.days[::-1]), None)
    if end is not None and end < first:
        return first
    return last if begin is not None and begin > last else None


def choose(name: str, value: str) -> None:
    """Choose a value of a filter alone, or none if it is chosen alone already; for a callback."""
    st.session_state[name] = [] if list(st.session_state.get(name, ())) == [value] else [value]


def _remove(name: str, value: str) -> None:
    """Remove a value from a filter, and from the address."""
    if name in _CHOSEN:
        st.session_state[name] = [chosen for chosen in st.session_state[name] if chosen != value]
    elif name == "runs":
        st.session_state["runs"] = False
    forget_filter(name, value)
