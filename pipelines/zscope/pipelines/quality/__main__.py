"""The process that validates: `python -m zscope.pipelines.quality --catalogue FILE --docs DIR --result FILE`.

Ends with 0 when everything was checked, whatever came out, and with 12 when nothing could be.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from zscope.pipelines.quality.checks import QualityError
from zscope.pipelines.quality.process import COULD_NOT
from zscope.pipelines.quality.slices import SAMPLE_ROWS, Slice


def main(arguments: Sequence[str] | None = None) -> int:
    """Validate what the arguments say and write the results to a Parquet file."""
    import duckdb
    import pyarrow.parquet as pq

    from zscope.pipelines.quality.run import validate

    given = _parser().parse_args(arguments)
    loads = tuple(given.load) if given.load is not None else None
    part = Slice(loads, tuple(given.table), given.system, given.first_day, given.last_day)
    try:
        results = validate(given.catalogue, part, given.docs, sample_rows=given.sample)
        pq.write_table(results, given.result, compression="zstd")
    except QualityError as error:
        return _could_not(str(error))
    except (OSError, duckdb.Error) as error:
        return _could_not(f"{given.catalogue}: {' '.join(str(error).split())}")
    return 0


def _could_not(why: str) -> int:
    sys.stderr.write(f"{why}\n")
    return COULD_NOT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m zscope.pipelines.quality", description=main.__doc__)
    parser.add_argument(
        "--catalogue", type=Path, required=True, metavar="FILE", help="zscope.duckdb of a store"
    )
    parser.add_argument("--docs", type=Path, required=True, metavar="DIR", help="folder for the pages")
    parser.add_argument("--result", type=Path, required=True, metavar="FILE", help="Parquet file to write")
    parser.add_argument("--load", type=int, nargs="*", metavar="ID", help="only rows of these loads")
    parser.add_argument("--table", nargs="*", default=(), metavar="NAME", help="only these tables")
    parser.add_argument("--system", metavar="NAME", help="only rows of this system")
    parser.add_argument("--from", dest="first_day", type=date.fromisoformat, metavar="DAY", help="first day")
    parser.add_argument("--to", dest="last_day", type=date.fromisoformat, metavar="DAY", help="last day")
    parser.add_argument(
        "--sample", type=int, default=SAMPLE_ROWS, metavar="N", help="check row by row at most about N rows"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
