"""The process that validates: `python -m zscope.pipelines.quality --catalogue FILE --docs DIR --result FILE`.

Exits with 0 if the data was checked, whatever the results, and with 12 if it could not be checked.
"""

from __future__ import annotations

import argparse
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.pipelines.quality.quality_checks import QualityError
from zscope.pipelines.quality.slices import SAMPLE_ROWS, StoreSlice
from zscope.pipelines.quality.validation_process import EXIT_NOT_VALIDATED

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Validate a slice of a store and write the results to a Parquet file."""
    import duckdb
    import pyarrow.parquet as pq

    from zscope.pipelines.quality.engine import validate

    options = _parser().parse_args(arguments)
    loads = tuple(options.load) if options.load is not None else None
    store_slice = StoreSlice(loads, tuple(options.table), options.system, options.first_day, options.last_day)
    try:
        results = validate(options.catalogue, store_slice, options.docs, sample_rows=options.sample)
        pq.write_table(results, options.result, compression="zstd")
    except QualityError as error:
        return _fail(str(error))
    except (OSError, duckdb.Error) as error:
        return _fail(f"{options.catalogue}: {' '.join(str(error).split())}")
    return 0


def _fail(message: str) -> int:
    sys.stderr.write(f"{message}\n")
    return EXIT_NOT_VALIDATED


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
        "--sample",
        type=int,
        default=SAMPLE_ROWS,
        metavar="N",
        help="sample tables with more than N rows for checks of single rows",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
