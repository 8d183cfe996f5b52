"""The filter bar that pages share, and the values that it offers.

What is chosen is part of the address. Streamlit ignores values in an address that are not offered, so a link
can only choose what the store contains.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.drawing import clean
from zscope.app.dashboard.filters import ROLES, Filters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.app.dashboard.store import StoreQueries

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
            (SELECT max(hour_utc) FROM seen) AS last_utc
        FROM ranked
    """).to_pylist()  # fmt: skip
    return Choices(
        systems=tuple(row["systems"] or ()),
        stacks=tuple(row["stacks"] or ()),
        ports=tuple(row["ports"] or ()),
        jobs=tuple(row["jobs"] or ()),
        first_utc=row["first_utc"],
        last_utc=row["last_utc"],
    )


_KEYS = {"period", "system", "stack", "port", "job", "role"}


def filter_bar(choices: Choices) -> Filters:
    """Draw the bar and return what is chosen."""
    # Streamlit passes values chosen by hand to other pages, but not values from the address.
    for key in _KEYS & st.session_state.keys():
        st.session_state[key] = st.session_state[key]
    with st.container(horizontal=True, vertical_alignment="bottom", key="filter-bar"):
        begin, end = _period(choices)
        systems = _several("System", "system", choices.systems)
        stacks = _several("Stack", "stack", choices.stacks)
        ports = _several("Port", "port", [str(port) for port in choices.ports])
        jobs = _several("Job", "job", choices.jobs)
        roles = _several("Role", "role", ROLES)
    return Filters(begin, end, systems, stacks, tuple(map(int, ports)), jobs, roles)


def _period(choices: Choices) -> tuple[datetime | None, datetime | None]:
    if choices.first_utc is None or choices.last_utc is None:
        return None, None
    first, last = choices.first_utc.date(), choices.last_utc.date()
    chosen = st.date_input(
        "Period (UTC)", (first, last), min_value=first, max_value=last, key="period",
        format="YYYY-MM-DD", bind="query-params", persist_state="session", width=230,
        help="From the first to the last day, both included.",
    )  # fmt: skip
    days = tuple(chosen)
    if not days or days == (first, last):
        return None, None
    return _midnight(days[0]), _midnight(days[-1]) + timedelta(days=1)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _several(label: str, key: str, options: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        st.multiselect(
            label, options, key=key, bind="query-params", persist_state="session", format_func=clean,
            placeholder="all", width=128, disabled=not options,
        )
    )  # fmt: skip
