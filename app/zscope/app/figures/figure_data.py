"""What figures read: one version of a store, for a page or a command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from zscope.app.shared.filters import Filters


class FigureData(Protocol):
    """One version of a store, narrowed by filters."""

    @property
    def filters(self) -> Filters:
        """What was chosen."""

    def found(self, name: str, sql: str, by: Sequence[str] | None = None, where: str = "") -> pa.Table:
        """Return the rows of a statement on `found`: the rows of a metric that match the filters."""

    def rows(self, sql: str) -> pa.Table:
        """Return the rows of a statement on the store, which the filters do not narrow."""

    def without_effect(self, name: str) -> tuple[str, ...]:
        """Return the filters that are set but cannot narrow a metric."""

    def other(self) -> FigureData | None:
        """Return the data of the period that figures are compared with, if one is chosen."""

    def without_filters(self, names: Sequence[str]) -> FigureData:
        """Return the data that filters of these names do not narrow."""

    def missing_zones(self) -> str:
        """Return the note about systems without a time zone that concern the metrics read; often empty."""
