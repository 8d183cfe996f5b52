"""Crypto cards and ICSF: operations, how long they took, how busy the cards were.

SMF 70 records count operations and their time; RMF reports tell rates. Where both tell of an interval, the
records count.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from zscope.app.dashboard.queries.partitions import START, Clock
from zscope.app.dashboard.queries.pieces import in_pieces

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

_COLUMNS = ("system",)
_CLOCK = "start_utc"
_STEPS = {"hour_utc": timedelta(hours=1), "day_utc": timedelta(days=1)}
_MOST_ROWS = 3_000
_MOST_CARDS = 7
_MOST_SERVICES = 20
_ENGINES = 5
_TOTAL = "total"
_BY_ENGINE = {"me_1024": 128, "me_2048": 64, "crt_1024": 32, "crt_2048": 16}
"""RSA operations that an accelerator counts by engine, and the bits that say that they are counted."""
_LARGE = {"me_4096": 8, "crt_4096": 4}
_PKCS11 = {
    "slow_asymmetric": 128, "fast_asymmetric": 64, "symmetric_partial": 32, "symmetric_complete": 16,
    "asymmetric_key_generation": 8,
}  # fmt: skip
_CODES = {"cca": "cca_card", "accelerator": "accelerator_card", "pkcs11": "pkcs11_card"}


@dataclass(frozen=True, slots=True)
class Cards:
    """What the pictures of cards over time show."""

    rows: pa.Table
    clock: Clock
    shown: tuple[str, ...]
    left_out: int
    """Cards that are not shown, as they did less."""


def scopes(data: Data) -> tuple[str, ...]:
    """Whose work is counted: of this system, of the whole machine, or nothing tells."""
    found = data.rows(f"{_cards(data)} SELECT DISTINCT scope FROM card ORDER BY scope = 'CPC', scope")
    return tuple(found["scope"].to_pylist())


def by_card(data: Data, scope: str) -> pa.Table:
    """Each card and operation: how many a second, how long one took, how busy the card was with them."""
    return data.rows(f"""
        {_cards(data)}
        SELECT {_LABEL} AS card, system, unit_kind, operation, scope, {_FIGURES}, count(*) AS intervals
        FROM card WHERE scope = ?
        GROUP BY ALL
        ORDER BY card, operation
    """, [scope])  # fmt: skip


def over_time(data: Data, scope: str) -> Cards:
    """All operations of the busiest cards in each hour, or in each day where hours would be too many."""
    clock: Clock = "hour_utc"
    found = _stepped(data, scope, clock)
    if found.num_rows > _MOST_ROWS:
        clock = "day_utc"
        found = _stepped(data, scope, clock)
    work: dict[str, float] = {}
    for row in found.select(["card", "operations_per_s"]).to_pylist():
        work[row["card"]] = work.get(row["card"], 0) + (row["operations_per_s"] or 0)
    busiest = sorted(work, key=lambda card: (-work[card], card))
    shown = tuple(sorted(busiest[:_MOST_CARDS]))
    kept = found.filter([name in shown for name in found["card"].to_pylist()])
    return Cards(in_pieces(kept, ("card",), clock, _STEPS[clock]), clock, shown, len(busiest) - len(shown))


def _stepped(data: Data, scope: str, clock: Clock) -> pa.Table:
    step = f"INTERVAL {_STEPS[clock].total_seconds():.0f} SECOND"
    return data.rows(f"""
        {_cards(data)}
        SELECT {_LABEL} AS card, system, unit_kind, time_bucket({step}, start_utc) AS {clock}, {_FIGURES}
        FROM card WHERE scope = ? AND operation = '{_TOTAL}' AND start_utc IS NOT NULL
        GROUP BY ALL
    """, [scope])  # fmt: skip


def services(data: Data) -> pa.Table:
    """What ICSF was asked for: the services with the most calls a second."""
    return data.rows(f"""
        WITH record AS (
            SELECT DISTINCT * EXCLUDE (load_id), {START} AS start_utc FROM smf70_icsf
        ),
        called AS (
            UNPIVOT (
                SELECT system, start_utc, interval_start_local, interval_ms, COLUMNS('.*_calls') FROM record
            ) ON COLUMNS('.*_calls') INTO NAME service VALUE calls
        ),
        told AS (
            SELECT system, replace(replace(service, '_calls', ''), '_', ' ') AS service, start_utc,
                interval_ms / 1000 AS seconds, calls
            FROM called
            UNION ALL BY NAME
            SELECT system, operation AS service, interval_start_utc AS start_utc,
                interval_ms / 1000 AS seconds, operation_rate * interval_ms / 1000 AS calls
            FROM rmf_crypto AS r
            WHERE unit_kind = 'icsf' AND NOT EXISTS (
                FROM smf70_icsf AS s WHERE s.system = r.system
                AND abs(epoch(s.interval_start_local) - epoch(r.interval_start_local)) < 2
            )
        ),
        rate AS (
            SELECT system, service, sum(calls) / nullif(sum(seconds), 0) AS calls_per_s, sum(calls) AS calls
            FROM told {data.where(_COLUMNS, _CLOCK, "calls IS NOT NULL")}
            GROUP BY system, service HAVING calls > 0
        )
        FROM rate
        WHERE service IN (
            SELECT service FROM rate GROUP BY service
            ORDER BY max(calls_per_s) DESC NULLS LAST, service LIMIT {_MOST_SERVICES}
        )
        ORDER BY calls_per_s DESC, system, service
    """)  # fmt: skip


_LABEL = "concat_ws(' ', system, card_type, card_id)"
_FIGURES = """
    sum(operations) / nullif(sum(seconds) FILTER (operations IS NOT NULL), 0) AS operations_per_s,
    1000 * sum(busy_s) / nullif(sum(operations) FILTER (busy_s IS NOT NULL), 0) AS execution_ms,
    100 * sum(used_s) / nullif(sum(seconds) FILTER (used_s IS NOT NULL), 0) AS busy_pct
"""


def _cards(data: Data) -> str:
    """The first part of a statement: a row for each card, operation and interval."""
    by_engine = [_figure(name, bit, _engines(name, "count"), _engines(name, "time_raw"))
                 for name, bit in _BY_ENGINE.items()]  # fmt: skip
    functions = [_figure(name, bit, f"{name}_count", f"{name}_time_raw") for name, bit in _PKCS11.items()]
    large = [_figure(name, bit, f"{name}_count", f"{name}_time_raw") for name, bit in _LARGE.items()]
    cca = [
        _figure(_TOTAL, 128, "all_operations_count", "all_operations_time_raw"),
        _figure("rsa_key_generation", 64, "rsa_key_generation_count", "NULL"),
    ]
    return f"""
        WITH figure AS (
            SELECT * EXCLUDE (engines), busy_s / engines AS used_s FROM (
                {_records("smf70_crypto_cca", "cca", cca)}
                UNION ALL
                {_records("smf70_crypto_accel", "accelerator", [*by_engine, *large], "engine_count")}
                UNION ALL
                {_records("smf70_crypto_pkcs11", "pkcs11", functions)}
            )
        ),
        recorded AS (
            SELECT * FROM figure
            UNION ALL BY NAME
            SELECT * EXCLUDE (operation, operations, busy_s, used_s), '{_TOTAL}' AS operation,
                sum(operations) AS operations, sum(busy_s) AS busy_s, sum(used_s) AS used_s
            FROM figure WHERE unit_kind <> 'cca' GROUP BY ALL
        ),
        reported AS (
            SELECT system, interval_start_utc AS start_utc, interval_ms / 1000 AS seconds, unit_kind,
                card_type_name AS card_type, card_id,
                CASE crypto_scope_name WHEN 'LPAR' THEN 'this system' WHEN 'CPC' THEN 'whole CPC'
                    ELSE 'not told' END AS scope,
                operation, operation_rate * interval_ms / 1000 AS operations,
                operation_rate * interval_ms / 1000 * execution_ms / 1000 AS busy_s,
                utilisation_pct / 100 * interval_ms / 1000 AS used_s
            FROM rmf_crypto AS r
            WHERE unit_kind IN ('cca', 'accelerator', 'pkcs11') AND NOT EXISTS (
                FROM figure AS f WHERE f.system = r.system
                AND abs(epoch(f.interval_start_local) - epoch(r.interval_start_local)) < 2
            )
            QUALIFY row_number() OVER (
                PARTITION BY system, interval_start_local, interval_start_utc, unit_kind, card_id, scope,
                    operation
                ORDER BY interval_ms, source DESC, file, line_no
            ) = 1
        ),
        card AS (
            SELECT * FROM (
                SELECT * EXCLUDE (interval_start_local) FROM recorded
                UNION ALL BY NAME SELECT * FROM reported
            )
            {data.where(_COLUMNS, _CLOCK)}
        )
    """


def _records(table: str, kind: str, figures: list[str], engines: str = "1") -> str:
    """The figures of the records about one kind of cards."""
    return f"""
        SELECT system, start_utc, interval_start_local, interval_ms / 1000 AS seconds, '{kind}' AS unit_kind,
            coalesce(c.text, '{kind}') AS card_type, card_index::VARCHAR AS card_id,
            CASE scope WHEN 1 THEN 'this system' WHEN 0 THEN 'whole CPC' ELSE 'not told' END AS scope,
            greatest({engines}, 1) AS engines, unnest([{", ".join(figures)}], recursive := true)
        FROM (SELECT DISTINCT * EXCLUDE (load_id), {START} AS start_utc FROM {table}) AS r
        LEFT JOIN code_{_CODES[kind]} AS c ON r.card_type = c.code
    """


def _figure(name: str, bit: int, count: str, raw: str) -> str:
    """Number and time of an operation, as far as the record says that it counted them."""
    return f"""{{'operation': '{name.replace("_", " ")}',
        'operations': CASE WHEN validity_flags & {bit} > 0 THEN ({count})::DOUBLE END,
        'busy_s': CASE WHEN validity_flags & {bit} > 0 THEN (({raw}) * scaling_factor)::DOUBLE END}}"""


def _engines(name: str, what: str) -> str:
    """What the engines of an accelerator did together; the record has places for more than there are."""
    return " + ".join(
        f"CASE WHEN engine_count >= {n} THEN coalesce(engine_{n}_{name}_{what}, 0) ELSE 0 END"
        for n in range(1, _ENGINES + 1)
    )
