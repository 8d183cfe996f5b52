"""What all generators of records share: the simulated site, and the records of each declaration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zscope.samples.dump.declared_records import DeclaredRecords
from zscope.samples.dump.site_context import SiteContext

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from zscope.samples.dump.arrays import Numbers
    from zscope.samples.dump.assemble import SmfBatch


@dataclass(frozen=True)
class RecordContext(SiteContext):
    """The recipe of a dump and what follows from it for every kind of record."""

    _declared: dict[tuple[str, int], DeclaredRecords] = field(default_factory=dict)

    def make(
        self,
        path: str,
        subtype: int,
        given: Mapping[str, Any],
        written: Numbers,
        rng: np.random.Generator | None = None,
    ) -> SmfBatch:
        """Generate the records of a subtype of a declaration, one for each of these times."""
        if (path, subtype) not in self._declared:
            self._declared[path, subtype] = DeclaredRecords(self, path, subtype)
        return self._declared[path, subtype].make(given, written, rng)
