"""Partitions of a machine: weights, processors, and how much of the machine each had.

Every system of a machine tells of all its partitions, so one of them is asked at a time. It tells by its SMF
70 records, or where it has none, by its Partition Data reports.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

KINDS = {"CP": "general-purpose", "IIP": "zIIP", "AAP": "zAAP", "IFA": "zAAP", "IFL": "Linux (IFL)",
         "ICF": "coupling facility"}  # fmt: skip
"""Types of processors as records name them, and in words."""
OTHERS = "others"
_MOST_PARTITIONS = 6
_MOST_ROWS = 1_500
Clock = Literal["hour_utc", "day_utc"]
_MARGIN = timedelta(days=1)
_COLUMNS = ("system",)
START = "make_timestamptz(epoch_us(interval_start_local) - epoch_us(written_local) + epoch_us(written_utc))"
"""When the interval of a record of RMF began: its local time, by the clock that the record was written by."""
_SMF = f"""
    WITH part AS (
        SELECT DISTINCT system, interval_start_local, record_no, record_offset, interval_ms, partition_name,
            system_name, logical_cpu_skip, logical_cpu_count, {START} AS start_utc
        FROM smf70_partition WHERE system = ? {{days}} AND logical_cpu_count > 0 AND interval_ms > 0
    ),
    kind AS (
        SELECT DISTINCT interval_start_local, record_no, record_offset, section_no, cpu_type_name,
            coalesce(physical_cpus_total / nullif(diagnose_sample_count, 0), physical_cpu_count) AS physical
        FROM smf70_cpu_type WHERE system = ? {{days}}
    ),
    logical AS (
        SELECT DISTINCT interval_start_local, record_no, record_offset, section_no, cpu_type_index, weight,
            dispatch_us, online_us
        FROM smf70_logical_cpu WHERE system = ? {{days}}
    ),
    use AS (
        SELECT p.partition_name, p.system_name, p.start_utc, p.interval_ms / 1000 AS seconds,
            t.cpu_type_name AS processors, t.physical, p.partition_name = 'PHYSICAL' AS management,
            max(l.weight) FILTER (l.weight NOT IN (0, 65535))::BIGINT AS weight,
            bool_and(l.weight = 65535) AS dedicated,
            sum(l.online_us / 1e3 / p.interval_ms) AS logical_online, sum(l.dispatch_us) / 1e6 AS used_s
        FROM part AS p
        INNER JOIN logical AS l
            ON p.interval_start_local = l.interval_start_local AND p.record_no = l.record_no
            AND p.record_offset = l.record_offset
            AND l.section_no >= p.logical_cpu_skip
            AND l.section_no < p.logical_cpu_skip::BIGINT + p.logical_cpu_count
        INNER JOIN kind AS t
            ON p.interval_start_local = t.interval_start_local AND p.record_no = t.record_no
            AND p.record_offset = t.record_offset AND l.cpu_type_index = t.section_no + 1
        GROUP BY ALL
    )
"""
_RMF = """
    WITH use AS (
        SELECT partition_name, NULL::VARCHAR AS system_name, interval_start_utc AS start_utc,
            interval_ms / 1000 AS seconds, cpu_type_name AS processors, NULL::DOUBLE AS physical,
            row_kind = 'physical' AS management, weight::BIGINT AS weight, dedicated,
            logical_cpus AS logical_online,
            physical_total_pct / 100 * interval_ms / 1000 AS used_s
        FROM rmf_partition
        WHERE system = ? {days} AND row_kind IN ('partition', 'physical')
        QUALIFY row_number() OVER (
            PARTITION BY interval_start_local, interval_start_utc, partition_name, cpu_type_name
            ORDER BY interval_ms, source DESC, file, line_no
        ) = 1
    )
"""


@dataclass(frozen=True, slots=True)
class Teller:
    """A system that tells of the partitions of its machine."""

    system: str
    by: Literal["SMF 70 records", "RMF reports"]
    machine: str
    """Type and serial number, as far as they are known."""


def tellers(data: Data) -> tuple[Teller, ...]:
    """The systems that tell of partitions."""
    rows = data.rows(f"""
        WITH told AS (
            SELECT DISTINCT system, 'SMF 70 records' AS how FROM smf70_partition {data.where(_COLUMNS)}
            UNION ALL
            SELECT DISTINCT system, 'RMF reports' AS how FROM rmf_partition {data.where(_COLUMNS)}
        ),
        machine AS (
            SELECT system, max_by(machine, length(machine)) AS machine
            FROM (
                SELECT DISTINCT system,
                    concat_ws(' ', machine_type, ltrim(machine_sequence_code, '0')) AS machine
                FROM smf70_interval
                UNION ALL
                SELECT DISTINCT system, ltrim(machine_sequence_code, '0') AS machine FROM rmf_interval
            ) GROUP BY system
        )
        SELECT t.system, max(t.how) AS by, coalesce(any_value(m.machine), '') AS machine
        FROM told AS t LEFT JOIN machine AS m ON t.system = m.system
        WHERE t.system IS NOT NULL GROUP BY t.system ORDER BY t.system
    """).to_pylist()  # fmt: skip
    return tuple(Teller(**row) for row in rows)


def partitions(data: Data, teller: Teller) -> pa.Table:
    """Each partition and type of processor: how much of the machine it had, and may have by its weight."""
    use, parameters = _use(data, teller)
    return data.rows(f"""
        {use},
        together AS (
            SELECT processors, partition_name, max(system_name) AS system_name,
                bool_or(management) AS management,
                {_newest("weight")} AS weight, {_newest("dedicated")} AS dedicated,
                avg(logical_online) AS logical_online, {_newest("physical")} AS physical,
                100 * {_share("used_s")} AS used_pct, count(*) AS intervals
            FROM use {data.where((), "start_utc")} GROUP BY processors, partition_name
        )
        SELECT partition_name, system_name, processors, CASE WHEN management THEN 'management'
            WHEN dedicated THEN 'dedicated' ELSE 'shared' END AS sharing,
            weight, 100 * weight / nullif(sum(weight) OVER (PARTITION BY processors), 0) AS weight_pct,
            CASE WHEN NOT management THEN logical_online END AS logical_online, physical, used_pct, intervals
        FROM together ORDER BY processors, management, used_pct DESC, partition_name
    """, parameters)  # fmt: skip


def use_over_time(data: Data, teller: Teller, processors: str) -> tuple[pa.Table, Clock]:
    """How much of the processors of a type each partition had in each hour, small ones together.

    By day where hours would be too many.
    """
    by_hour = _stepped(data, teller, processors, "hour_utc", "1 HOUR")
    if by_hour.num_rows <= _MOST_ROWS:
        return by_hour, "hour_utc"
    return _stepped(data, teller, processors, "day_utc", "1 DAY"), "day_utc"


def _stepped(data: Data, teller: Teller, processors: str, column: Clock, step: str) -> pa.Table:
    use, parameters = _use(data, teller)
    return data.rows(f"""
        {use},
        stepped AS (
            SELECT *, time_bucket(INTERVAL {step}, start_utc) AS {column}
            FROM use {data.where((), "start_utc", "processors = ?", "start_utc IS NOT NULL")}
        ),
        most AS (
            SELECT partition_name, sum(used_s) AS used_s FROM stepped GROUP BY partition_name
            ORDER BY used_s DESC NULLS LAST, partition_name LIMIT {_MOST_PARTITIONS}
        ),
        each_partition AS (
            SELECT {column}, partition_name, {_share("used_s")} * 100 AS used_pct
            FROM stepped GROUP BY {column}, partition_name
        )
        SELECT e.{column}, coalesce(m.partition_name, '{OTHERS}') AS partition_name,
            sum(e.used_pct) AS used_pct
        FROM each_partition AS e LEFT JOIN most AS m ON e.partition_name = m.partition_name
        GROUP BY ALL ORDER BY ALL
    """, [*parameters, processors])  # fmt: skip


def _use(data: Data, teller: Teller) -> tuple[str, list[object]]:
    """The first part of a statement, and its parameters; only the days of the period are read."""
    # Days are those of the clock of the system, which can be one further than those of UTC.
    begin, end = data.filters.begin, data.filters.end
    days = f"AND day >= DATE '{begin - _MARGIN:%Y-%m-%d}'" if begin else ""
    days += f" AND day <= DATE '{end + _MARGIN:%Y-%m-%d}'" if end else ""
    if teller.by == "SMF 70 records":
        return _SMF.format(days=days), [teller.system] * 3
    return _RMF.format(days=days), [teller.system]


def _newest(column: str) -> str:
    """What the newest interval says; where no interval has UTC, any of them."""
    return f"coalesce(arg_max({column}, start_utc), any_value({column}))"


def _share(used: str) -> str:
    """Of all physical processors of a type; reports tell it as a share already, of one of them."""
    return f"sum({used}) / nullif(sum(seconds * coalesce(physical, 1)), 0)"
