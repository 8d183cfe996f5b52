"""The filter bar that pages share, the values that it offers, and the period.

What is chosen is part of the address. Values in an address that are not offered are ignored, so a link can
only choose what the store contains. A relative period is in the address as words, so a bookmark of the last
week shows the last week of the data that are loaded when it is opened. Moments come from a range that the
reader has marked in a chart over time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, timezone
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
    from collections.abc import Collection, Mapping, Sequence

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
_OFFSETS = "SELECT system, from_local, offset_s FROM clock_offset ORDER BY system, from_local"


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """What the clock of a system is ahead of UTC from a time on."""

    system: str
    from_local: datetime
    offset_s: float


@dataclass(frozen=True, slots=True)
class Choices:
    """The values in the store: systems and stacks by name, ports and jobs with the busiest first."""

    systems: tuple[str, ...]
    stacks: tuple[str, ...]
    ports: tuple[int, ...]
    jobs: tuple[str, ...]
    first_utc: datetime | None
    last_utc: datetime | None
    first_day: date | None
    """Days are local days of the systems."""
    last_day: date | None
    newest_day: date | None
    """The last day with handshakes or connections of production; without any, that of all data."""
    offsets: tuple[ClockOffset, ...] = ()
    """Those of each system in the order of time."""
    has_runs: bool = False
    """Whether hours with benchmark runs are left out of shares and rates."""

    def midnights(self, day: date, systems: Collection[str] = ()) -> tuple[datetime, datetime]:
        """Return the moments at which a day begins on the first and the last of some systems, or of all."""
        local = datetime.combine(day, time())
        seconds = {
            offset.system: offset.offset_s
            for offset in self.offsets
            if offset.from_local <= local and (not systems or offset.system in systems)
        }
        begins = [local - timedelta(seconds=offset) for offset in seconds.values()] or [local]
        return min(begins).replace(tzinfo=UTC), max(begins).replace(tzinfo=UTC)

    def zone(self, systems: Collection[str] = ()) -> timezone:
        """Return the clock that some systems, or all, have at all times; UTC if they have several."""
        seconds = {offset.offset_s for offset in self.offsets if not systems or offset.system in systems}
        return timezone(timedelta(seconds=seconds.pop())) if len(seconds) == 1 else UTC


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
        ),
        each_hour AS (
            SELECT s.system, s.hour_utc, max(if(l.system IS NULL, s.weight, 0)) AS weight
            FROM seen AS s LEFT JOIN run_hour AS l ON s.system = l.system AND s.hour_utc = l.hour_utc
            GROUP BY ALL
        ),
        placed AS (
            SELECT local_day(h.hour_utc, o.offset_s) AS day, h.weight
            FROM each_hour AS h ASOF LEFT JOIN clock_offset AS o
                ON h.system = o.system AND h.hour_utc >= o.from_utc
        )
        SELECT
            list(value ORDER BY value) FILTER (WHERE kind = 'system') AS systems,
            list(value ORDER BY value) FILTER (WHERE kind = 'stack') AS stacks,
            list(TRY_CAST(value AS BIGINT) ORDER BY weight DESC, value) FILTER (WHERE kind = 'port') AS ports,
            list(value ORDER BY weight DESC, value) FILTER (WHERE kind = 'job') AS jobs,
            (SELECT min(hour_utc) FROM seen) AS first_utc,
            (SELECT max(hour_utc) FROM seen) AS last_utc,
            (SELECT min(day) FROM placed) AS first_day,
            (SELECT max(day) FROM placed) AS last_day,
            (SELECT coalesce(max(day) FILTER (weight > 0), max(day)) FROM placed) AS newest_day,
            EXISTS (FROM run_hour) AS has_runs
        FROM ranked
    """).to_pylist()  # fmt: skip
    return Choices(
        systems=tuple(row["systems"] or ()),
        stacks=tuple(row["stacks"] or ()),
        ports=tuple(row["ports"] or ()),
        jobs=tuple(row["jobs"] or ()),
        first_utc=row["first_utc"],
        last_utc=row["last_utc"],
        first_day=row["first_day"],
        last_day=row["last_day"],
        newest_day=row["newest_day"],
        has_runs=row["has_runs"],
        offsets=tuple(ClockOffset(**offset) for offset in queries.rows(version, _OFFSETS).to_pylist()),
    )


_WIDTHS_PX = {"period": 242, "system": 142, "stack": 142, "port": 128, "job": 165, "role": 148}
"""Room for two days, and for a usual name next to the two buttons of its box: one line at 1,440 pixels."""
_WITH_RUNS = ("with",)
"""The value in the address if hours with benchmark runs count."""
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
        with_runs = choices.has_runs and st.toggle(
            "Benchmark runs", key="runs",
            help="Count hours with benchmark runs in shares and rates. They say nothing about production.",
        )  # fmt: skip
    if nothing_loaded:
        return Filters()
    remember_filters({
        "period": period.address, "system": systems, "stack": stacks, "port": ports, "job": jobs,
        "role": roles, "runs": _WITH_RUNS if with_runs else (),
    })  # fmt: skip
    chosen = Filters(None, None, systems, stacks, tuple(map(int, ports)), jobs, roles, with_runs=with_runs)
    return _filters(choices, period, chosen)


def filters_of_address(choices: Choices) -> Filters:
    """Return the filters that the address of a page without a bar carries, as far as they are offered."""
    asked = filters_in_address()
    values = {
        name: tuple(value for value in asked.get(name, ()) if value in known)
        for name, known in _offered(choices).items()
    }
    chosen = Filters(
        None, None, values["system"], values["stack"], tuple(map(int, values["port"])), values["job"],
        values["role"], with_runs=choices.has_runs and _asks_for_runs(asked),
    )  # fmt: skip
    return _filters(choices, read_period(asked.get("period", ()), choices), chosen)


def _asks_for_runs(asked: Mapping[str, Sequence[str]]) -> bool:
    return tuple(asked.get("runs", ())) == _WITH_RUNS


def _filters(choices: Choices, period: Period, chosen: Filters) -> Filters:
    """Return what is chosen with the period."""
    if period.begin or not period.days:
        return replace(chosen, begin=period.begin, end=period.end)
    begin, _ = choices.midnights(period.days[0], chosen.systems)
    _, end = choices.midnights(period.days[-1] + _DAY, chosen.systems)
    return replace(chosen, begin=begin, end=end, first_day=period.days[0], last_day=period.days[-1])


def _offered(choices: Choices) -> dict[str, tuple[str, ...]]:
    return {
        "system": choices.systems, "stack": choices.stacks, "port": tuple(map(str, choices.ports)),
        "job": choices.jobs, "role": ROLES,
    }  # fmt: skip


def show_between(begin: datetime, end: datetime) -> None:
    """Choose the time between two moments for the next run of the page."""
    st.session_state[_WANTED] = between(begin, end)


def show_days(first: date, last: date) -> None:
    """Choose whole days for the next run of the page."""
    st.session_state[_WANTED] = (first.isoformat(), last.isoformat())


def _choose(choices: Choices, offered: Mapping[str, Sequence[str]]) -> Period:
    """Give the widgets what a new address asks for, or what was chosen before, as far as it is offered."""
    asked, known = newly_asked_for(), known_filters()
    for name in offered:
        if asked is not None:
            wanted: Sequence[object] = asked.get(name, ())
        else:
            wanted = st.session_state.get(name, known.get(name, ()))
        st.session_state[name] = [value for value in wanted if value in offered[name]]
    if asked is not None or "runs" not in st.session_state:
        st.session_state["runs"] = _asks_for_runs(known if asked is None else asked)
    changed = st.session_state.pop(_WANTED, None)
    days = known.get("period", ()) if changed is None else changed
    period = read_period(days if asked is None else asked.get("period", ()), choices)
    st.session_state["period"] = period.days
    st.session_state[_WORDS] = period.words or None
    return period


def _period_by_words(choices: Choices, period: Period) -> None:
    """Buttons for all days and for the periods relative to the newest data."""
    if choices.first_day is None or choices.newest_day is None:
        return
    relative = relative_periods(choices.first_day, choices.newest_day)
    moments = [period.words] if period.words not in {"", ALL, *relative} else []
    st.pills(
        "Period of the data", [ALL, *relative, *moments], key=_WORDS, on_change=_words_chosen,
        label_visibility="collapsed", format_func=_written,
        help=f"Relative to the newest day with TLS data, now {choices.newest_day}; a bookmark moves with the "
        "data.",
    )  # fmt: skip


def _written(words: str) -> str:
    return "All days" if words == ALL else words[:1].upper() + words[1:]


def _words_chosen() -> None:
    words = st.session_state[_WORDS]
    st.session_state[_WANTED] = () if words in {None, ALL} else (words,)


def _period_by_days(choices: Choices) -> None:
    if choices.first_day is None or choices.last_day is None:
        return
    first, last = choices.first_day, choices.last_day
    untouched: list[Any] = []
    st.date_input(
        "Period", untouched, min_value=first, max_value=last, key="period", format="YYYY-MM-DD",
        width=_WIDTHS_PX["period"], on_change=_days_chosen,
        help="From the first to the last day, both included, on the clocks of the systems. Empty: all days, "
        f"now {first} to {last}, and those that are loaded later.",
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
    """The first and the last day, local days; only one while the reader has chosen one."""
    begin: datetime | None = None
    """First moment, in UTC; None for whole days."""
    end: datetime | None = None
    """First moment after it, in UTC."""


ALL_DAYS = Period()


def relative_periods(first: date, newest: date) -> tuple[str, ...]:
    """Return the relative periods that begin within the data.

    >>> relative_periods(date(2026, 3, 1), date(2026, 3, 7))
    ('last day', 'last week')
    """
    return tuple(words for words, (before, _) in _RELATIVE.items() if newest - before * _DAY >= first)


def read_period(wanted: Sequence[str], choices: Choices) -> Period:
    """Return the period with these values in the address, as far as the data reach; else all days.

    Relative periods end with the newest day.
    """
    first, last = choices.first_day, choices.last_day
    if not wanted or first is None or last is None:
        return ALL_DAYS
    if len(wanted) == 1 and wanted[0] in _RELATIVE:
        return _relative(wanted[0], first, choices.newest_day or last)
    try:
        if any("T" in text for text in wanted):
            moments = sorted(_moment(text) for text in wanted)
            return _between(moments[0], moments[-1], choices)
        days = sorted(date.fromisoformat(text) for text in wanted)
    except ValueError:
        return ALL_DAYS
    return _of_days(days, first, last)


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


def _relative(words: str, first: date, newest: date) -> Period:
    if words not in relative_periods(first, newest):
        return ALL_DAYS
    before, until = _RELATIVE[words]
    return Period((words,), words, _ends(newest - before * _DAY, newest - until * _DAY))


def _between(begin: datetime, end: datetime, choices: Choices) -> Period:
    first, last = choices.first_utc, choices.last_utc
    if first is None or last is None or begin >= end or end <= first or begin >= last + timedelta(hours=1):
        return ALL_DAYS
    ended = f"{end:%H:%M}" if begin.date() == end.date() else f"{end:%Y-%m-%d %H:%M}"
    words = f"{begin:%Y-%m-%d %H:%M} to {ended} UTC"
    return Period(between(begin, end), words, (), begin, end)


def _of_days(days: Sequence[date], first: date, last: date) -> Period:
    if days[0] > last or days[-1] < first:
        return ALL_DAYS
    shown = tuple(min(max(day, first), last) for day in (days[0], days[-1])[: len(days)])
    return Period(tuple(day.isoformat() for day in shown), "", shown)


def _ends(first: date, last: date) -> tuple[date, ...]:
    return (first,) if first == last else (first, last)
