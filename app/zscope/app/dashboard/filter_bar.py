"""The filter bar that pages share, the values that it offers, and the period.

What is chosen is part of the address. Values in an address that are not offered are ignored, so a link can
only choose what the store contains. A relative period is in the address as words, so a bookmark of the last
week shows the last week of the data that are loaded when it is opened. Moments come from a range that the
reader has marked in a chart over time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

import streamlit as st

from zscope.app.dashboard.drawing import clean
from zscope.app.dashboard.filter_address import (
    filters_in_address,
    known_filters,
    newly_asked_for,
    remember_filters,
)
from zscope.app.shared.filters import ROLES, Filters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zscope.app.dashboard.page_data import StoreQueries


_MOST = 1000
"""Of jobs and ports only the busiest are offered: a store can have very many."""
_VALUES = """
    SELECT system, stack, server_port, job_name, hour_utc, handshakes AS weight FROM handshake_hour
    UNION ALL BY NAME
    SELECT system, stack, server_port, job_name, hour_utc, connections AS weight FROM tls_hour
    WHERE source = reported_by
    UNION ALL BY NAME
    SELECT system, interval_start_utc AS hour_utc, 0 AS weight FROM cpu_interval
"""


@dataclass(frozen=True, slots=True)
class Choices:
    """The values in the store: systems and stacks by name, ports and jobs with the busiest first."""

    systems: tuple[str, ...]
    stacks: tuple[str, ...]
    ports: tuple[int, ...]
    jobs: tuple[str, ...]
    first_utc: datetime | None
    last_utc: datetime | None
    newest_utc: datetime | None
    """The last hour with handshakes or connections; without any, that of all data."""


def choices(queries: StoreQueries, version: str) -> Choices:
    """Return the values that the filter bar offers for a store."""
    [row] = queries.rows(version, f"""
        WITH seen AS MATERIALIZED ({_VALUES}),
        counted AS (
            SELECT unnest([
                struct_pack(kind := 'system', value := system), struct_pack(kind := 'stack', value := stack),
                struct_pack(kind := 'port', value := server_port::VARCHAR),
                struct_pack(kind := 'job', value := job_name)
            ], recursive := true), weight FROM seen
        ),
        ranked AS (
            SELECT kind, value, sum(weight) AS weight FROM counted WHERE value <> '' GROUP BY kind, value
            QUALIFY row_number() OVER (PARTITION BY kind ORDER BY sum(weight) DESC, value) <= {_MOST}
        )
        SELECT
            list(value ORDER BY value) FILTER (WHERE kind = 'system') AS systems,
            list(value ORDER BY value) FILTER (WHERE kind = 'stack') AS stacks,
            list(TRY_CAST(value AS BIGINT) ORDER BY weight DESC, value) FILTER (WHERE kind = 'port') AS ports,
            list(value ORDER BY weight DESC, value) FILTER (WHERE kind = 'job') AS jobs,
            (SELECT min(hour_utc) FROM seen) AS first_utc,
            (SELECT max(hour_utc) FROM seen) AS last_utc,
            (SELECT coalesce(max(hour_utc) FILTER (weight > 0), max(hour_utc)) FROM seen) AS newest_utc
        FROM ranked
    """).to_pylist()  # fmt: skip
    return Choices(
        systems=tuple(row["systems"] or ()),
        stacks=tuple(row["stacks"] or ()),
        ports=tuple(row["ports"] or ()),
        jobs=tuple(row["jobs"] or ()),
        first_utc=row["first_utc"],
        last_utc=row["last_utc"],
        newest_utc=row["newest_utc"],
    )


_WIDTHS_PX = {"period": 242, "system": 142, "stack": 142, "port": 128, "job": 165, "role": 148}
"""Room for two days, and for a usual name next to the two buttons of its box: one line at 1,440 pixels."""
_WORDS, _WANTED = "period_in_words", "period_wanted"
"""In the session: the button of the period, and the period that the reader has just chosen."""


def filter_bar(choices: Choices) -> Filters:
    """Draw the bar and return what is chosen."""
    offered = _offered(choices)
    nothing_loaded = choices.first_utc is None and not any(
        offered[name] for name in offered.keys() - {"role"}
    )
    period = ALL_DAYS if nothing_loaded else _choose(choices, offered)
    _period_by_words(choices, period)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall", key="filter-bar"):
        _period_by_days(choices)
        systems = _several("System", "system", offered["system"])
        stacks = _several("Stack", "stack", offered["stack"])
        ports = _several("Port", "port", offered["port"])
        jobs = _several("Job", "job", offered["job"])
        roles = _several("Role", "role", offered["role"])
    if nothing_loaded:
        return Filters()
    remember_filters({
        "period": period.address, "system": systems, "stack": stacks, "port": ports, "job": jobs,
        "role": roles,
    })  # fmt: skip
    return Filters(period.begin, period.end, systems, stacks, tuple(map(int, ports)), jobs, roles)


def filters_of_address(choices: Choices) -> Filters:
    """Return the filters that the address of a page without a bar carries, as far as they are offered."""
    asked = filters_in_address()
    values = {
        name: tuple(value for value in asked.get(name, ()) if value in known)
        for name, known in _offered(choices).items()
    }
    period = read_period(asked.get("period", ()), choices.first_utc, choices.last_utc, choices.newest_utc)
    return Filters(
        period.begin, period.end, values["system"], values["stack"], tuple(map(int, values["port"])),
        values["job"], values["role"],
    )  # fmt: skip


def _offered(choices: Choices) -> dict[str, tuple[str, ...]]:
    return {
        "system": choices.systems, "stack": choices.stacks, "port": tuple(map(str, choices.ports)),
        "job": choices.jobs, "role": ROLES,
    }  # fmt: skip


def show_between(begin: datetime, end: datetime) -> None:
    """Choose the time between two moments for the next run of the page."""
    st.session_state[_WANTED] = between(begin, end)


def _choose(choices: Choices, offered: Mapping[str, Sequence[str]]) -> Period:
    """Give the widgets what a new address asks for, or what was chosen before, as far as it is offered."""
    asked, known = newly_asked_for(), known_filters()
    for name in offered:
        if asked is not None:
            wanted: Sequence[object] = asked.get(name, ())
        else:
            wanted = st.session_state.get(name, known.get(name, ()))
        st.session_state[name] = [value for value in wanted if value in offered[name]]
    changed = st.session_state.pop(_WANTED, None)
    days = known.get("period", ()) if changed is None else changed
    period = read_period(
        days if asked is None else asked.get("period", ()),
        choices.first_utc,
        choices.last_utc,
        choices.newest_utc,
    )
    st.session_state["period"] = period.days
    st.session_state[_WORDS] = period.words or None
    return period


def _period_by_words(choices: Choices, period: Period) -> None:
    """Buttons for all days and for the periods relative to the newest data."""
    if choices.first_utc is None or choices.newest_utc is None:
        return
    relative = relative_periods(choices.first_utc, choices.newest_utc)
    moments = [period.words] if period.words not in {"", ALL, *relative} else []
    newest = choices.newest_utc.date()
    st.pills(
        "Period of the data", [ALL, *relative, *moments], key=_WORDS, on_change=_words_chosen,
        label_visibility="collapsed", format_func=_written,
        help=f"Relative to the newest day with TLS data, now {newest}; a bookmark moves with the data.",
    )  # fmt: skip


def _written(words: str) -> str:
    return "All days" if words == ALL else words[:1].upper() + words[1:]


def _words_chosen() -> None:
    words = st.session_state[_WORDS]
    st.session_state[_WANTED] = () if words in {None, ALL} else (words,)


def _period_by_days(choices: Choices) -> None:
    if choices.first_utc is None or choices.last_utc is None:
        return
    first, last = choices.first_utc.date(), choices.last_utc.date()
    untouched: list[Any] = []
    st.date_input(
        "Period (UTC)", untouched, min_value=first, max_value=last, key="period", format="YYYY-MM-DD",
        width=_WIDTHS_PX["period"], on_change=_days_chosen,
        help=f"From the first to the last day, both included. Empty: all days, now {first} to {last}, and "
        "those that are loaded later.",
    )  # fmt: skip


def _days_chosen() -> None:
    st.session_state[_WANTED] = tuple(day.isoformat() for day in st.session_state["period"])


def _several(label: str, key: str, options: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        st.multiselect(
            label, options, key=key, format_func=clean, placeholder="all", width=_WIDTHS_PX[key],
            disabled=not options,
        )
    )  # fmt: skip


ALL = "all"
_DAY = timedelta(days=1)
_RELATIVE = {"last day": (0, 0), "last week": (6, 0), "same day last week": (7, 7)}
"""Days of the first and of the last day before the newest day of the data."""


@dataclass(frozen=True, slots=True)
class Period:
    """A period, in the forms in which widgets, addresses and queries need it."""

    address: tuple[str, ...] = ()
    """The values of the parameter in the address; empty for all days."""
    words: str = ALL
    """Its name among the buttons; empty for chosen days."""
    days: tuple[date, ...] = ()
    """The first and the last day; only one while the reader has chosen one."""
    begin: datetime | None = None
    """First moment, in UTC."""
    end: datetime | None = None
    """First moment after it, in UTC."""


ALL_DAYS = Period()


def relative_periods(first: datetime, newest: datetime) -> tuple[str, ...]:
    """Return the relative periods that begin within the data.

    >>> relative_periods(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 7, 23, tzinfo=UTC))
    ('last day', 'last week')
    """
    return tuple(
        words for words, (before, _) in _RELATIVE.items() if newest.date() - before * _DAY >= first.date()
    )


def read_period(
    wanted: Sequence[str],
    first: datetime | None,
    last: datetime | None,
    newest: datetime | None = None,
) -> Period:
    """Return the period with these values in the address, as far as the data reach; else all days.

    `first` and `last` are the first and the last hour of the data. Relative periods end with the day of
    `newest`, or of the last hour.

    >>> first, last = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 10, 23, tzinfo=UTC)
    >>> [str(day) for day in read_period(["same day last week"], first, last).days]
    ['2026-03-03']
    >>> read_period(["2026-03-09T10:00", "2026-03-09T14:30"], first, last).words
    '2026-03-09 10:00 to 14:30'
    >>> [str(day) for day in read_period(["2026-02-01", "2026-03-02"], first, last).days]
    ['2026-03-01', '2026-03-02']
    >>> read_period(["1999-01-01"], first, last) == read_period(["tomorrow"], first, last) == ALL_DAYS
    True
    """
    if not wanted or first is None or last is None:
        return ALL_DAYS
    if len(wanted) == 1 and wanted[0] in _RELATIVE:
        return _relative(wanted[0], first, newest or last)
    try:
        moments = sorted(_moment(text) for text in wanted)
    except ValueError:
        return ALL_DAYS
    if any("T" in text for text in wanted):
        return _between(moments[0], moments[-1], first, last)
    return _of_days([moment.date() for moment in moments], first.date(), last.date())


def between(begin: datetime, end: datetime) -> tuple[str, str]:
    """Return the values in the address for the time between two moments, in whole minutes.

    >>> between(datetime(2026, 3, 9, 10, 0, 12, tzinfo=UTC), datetime(2026, 3, 9, 10, 30, 1, tzinfo=UTC))
    ('2026-03-09T10:00', '2026-03-09T10:31')
    """
    return _minutes(begin), _minutes(end + timedelta(seconds=59, microseconds=999_999))


def _minutes(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="minutes")


def _moment(text: str) -> datetime:
    """A day or a moment, in UTC."""
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _relative(words: str, first: datetime, newest: datetime) -> Period:
    if words not in relative_periods(first, newest):
        return ALL_DAYS
    before, until = _RELATIVE[words]
    days = (newest.date() - before * _DAY, newest.date() - until * _DAY)
    shown = days[:1] if days[0] == days[1] else days
    return Period((words,), words, shown, _midnight(days[0]), _midnight(days[1]) + _DAY)


def _between(begin: datetime, end: datetime, first: datetime, last: datetime) -> Period:
    if begin >= end or end <= first or begin >= last + timedelta(hours=1):
        return ALL_DAYS
    ended = f"{end:%H:%M}" if begin.date() == end.date() else f"{end:%Y-%m-%d %H:%M}"
    days = (max(begin.date(), first.date()), min((end - timedelta(microseconds=1)).date(), last.date()))
    shown = days[:1] if days[0] == days[1] else days
    return Period(between(begin, end), f"{begin:%Y-%m-%d %H:%M} to {ended}", shown, begin, end)


def _of_days(days: Sequence[date], first: date, last: date) -> Period:
    if days[0] > last or days[-1] < first:
        return ALL_DAYS
    ends = (days[0], days[-1]) if len(days) > 1 else days
    shown = tuple(min(max(day, first), last) for day in ends)
    address = tuple(day.isoformat() for day in shown)
    return Period(address, "", shown, _midnight(shown[0]), _midnight(shown[-1]) + _DAY)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
