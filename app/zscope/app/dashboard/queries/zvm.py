"""RSCS links of z/VM: CPU per transaction of each server in each run, and runs against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

AREA = "z/VM RSCS"
COMBINED = "combined"
SERVERS = ("SSL", "TCPIP", "RSCS")


def cost(data: Data) -> pa.Table:
    """CPU per transaction of each server and of all together, by run."""
    return data.metric("zvm_cpu_per_tx")


def by_server(found: pa.Table) -> pa.Table:
    """The servers alone, which can be stacked."""
    return found.filter(pc.field("server") != COMBINED)


def comparison(data: Data) -> pa.Table:
    """Every run against every other, from values rounded as the published tables are."""
    return data.metric("zvm_comparison")
