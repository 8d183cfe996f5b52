"""Results of the data validation, kept beside the data they are about."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.pipelines.store.bring_in import bring_in
from zscope.pipelines.store.change import changing
from zscope.pipelines.store.commits import Commit
from zscope.pipelines.store.folder import existing_store, partition
from zscope.pipelines.store.parts import Part
from zscope.pipelines.store.tables import VALIDATION_TABLE, kept_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from zscope.pipelines.settings import Settings


def record_validation(
    store: Path, results: pa.Table, settings: Settings, tell: Callable[[str], None]
) -> None:
    """Add the results of one run of the validation to the store."""
    folder = existing_store(store)
    if not results.num_rows:
        return
    day = datetime.now(UTC).date().isoformat()
    with changing(folder, settings, tell) as state:
        name = f"v{state.number + 1:08}.parquet"
        schema = kept_schema(VALIDATION_TABLE)
        part = Part(folder.stage / partition(VALIDATION_TABLE, day) / name, VALIDATION_TABLE, day, schema)
        part.write(results.cast(schema))
        bring_in(folder, state, [part.close()], lambda _: {}, lambda files: Commit("validate", adds=files))
