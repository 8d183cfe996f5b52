"""What the tests of the commands and of the pages share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from tests.dumps import composed

from zscope.app.cli.main import program

if TYPE_CHECKING:
    from pathlib import Path

    from _pytest.mark import ParameterSet

Run = Callable[..., Result]


def deep(*cases: object) -> list[ParameterSet]:
    """Return further cases of a parametrised test, which only `make test-deep` runs.

    A case of several parameters is a tuple.
    """
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.deep)
        for case in cases
    ]


@pytest.fixture
def run() -> Run:
    """Start the program with some arguments, as a user does, with standard output not a terminal."""

    def start(*arguments: object, stdin: bytes | None = None) -> Result:
        result = CliRunner().invoke(program, [str(a) for a in arguments], stdin, prog_name="zscope")
        assert "Traceback" not in result.output
        return result

    return start


def column(
    kind: pa.DataType, *values: object, codes: str = ""
) -> tuple[pa.DataType, tuple[object, ...], str]:
    """A column with its type, its three values and perhaps a code table."""
    return kind, values, codes


AWKWARD = {
    "tiny": column(pa.int8(), -128, 127, None),
    "whole": column(pa.int64(), -(2**63), 2**63 - 1, None),
    "counter": column(pa.uint64(), 0, 2**64 - 1, None),
    "real": column(pa.float64(), 0.1, float("nan"), float("-inf")),
    "exact": column(pa.decimal128(20, 2), Decimal("123456789012345678.90"), Decimal("-0.01"), None),
    "yes": column(pa.bool_(), True, False, None),
    "text": column(pa.string(), 'a "b", c', "", None),
    "lines": column(pa.string(), "two\nlines\r\n", "tab\there", "back\\slash"),
    "controls": column(pa.string(), "\x00\x1b[31m", "\x85 \x7f", "  blanks  "),
    "world": column(pa.string(), "Größe", "\u20ac \u6f22 \U0001f600", "="),
    "few": column(pa.dictionary(pa.int32(), pa.string()), "x,y", None, "x,y"),
    "utc": column(
        pa.timestamp("us", "UTC"),
        datetime(2026, 3, 1, 12, 0, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        None,
    ),
    "berlin": column(pa.timestamp("s", "Europe/Berlin"), datetime(2026, 7, 1, 12, 0, tzinfo=UTC), None, None),
    "local": column(pa.timestamp("us"), datetime(2026, 3, 29, 2, 30), datetime(9999, 12, 31, 23), None),  # noqa: DTZ001
    "day": column(pa.date32(), date(2024, 2, 29), date(1, 1, 1), None),
    "clock": column(pa.time64("us"), time(0, 0), time(23, 59, 59, 1), None),
    "span": column(pa.duration("us"), timedelta(days=1, microseconds=5), timedelta(0), None),
    "raw": column(pa.binary(), b"\x00\xff,", b"", None),
    "list": column(pa.list_(pa.int64()), [1, None], [], None),
    "both": column(
        pa.struct([("a", pa.string()), ("b", pa.float64())]), {"a": "ü", "b": float("nan")}, None, None
    ),
    "handshake": column(pa.uint8(), 1, 7, None, codes="handshake_type"),
    "flags": column(pa.uint8(), 0xA2, 0, None, codes="polarisation"),
    "suite": column(pa.dictionary(pa.int32(), pa.string()), "C02F", "", None, codes="cipher"),
    "never": column(pa.null(), None, None, None),
}


@pytest.fixture
def awkward() -> pa.Table:
    """One column of each type that a result can have, with the values that go wrong most easily."""
    fields = [
        pa.field(name, kind, metadata={"codes": codes} if codes else None)
        for name, (kind, _, codes) in AWKWARD.items()
    ]
    arrays = [pa.array(values, kind) for kind, values, _ in AWKWARD.values()]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


@pytest.fixture(scope="session")
def dump_bytes() -> bytes:
    """Three zERT detail records of two systems: a full and a short handshake, and one of unknown kind."""
    records = composed(
        (119, 11),
        [datetime(2026, 3, 1, 12, 0, second) for second in range(3)],  # noqa: DTZ001 - local time
        ["SYSA", "SYSA", "SYSB"],
        identification={"stack": "TCPIP"},
        common={"job_name": ["WEB", "WEB", "DB2"], "in_bytes": [2**63, 1, 0]},
        tls={
            "tls_version": [0x0303, 0x0304, 0],
            "handshake_type": [1, 2, 7],
            "cipher": ["C02F", "1301", ""],
        },
    )
    return b"".join(records)


@pytest.fixture
def dump(dump_bytes: bytes, tmp_path: Path) -> Path:
    """The records as a file."""
    file = tmp_path / "dump.smf"
    file.write_bytes(dump_bytes)
    return file
