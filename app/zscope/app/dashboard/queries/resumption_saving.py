"""CPU time that a higher resumption rate would save, by the own fit and by what is published."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

LOWEST, HIGHEST, USUAL = 50, 100, 95
_ALWAYS = (50, 60, 70, 80, 90, 95, 100)
"""The rates that the metric tells without being asked for one."""
BOUNDS = ("tls31-resumption-tls12-cpu", "tls31-resumption-tls13-cpu")
"""The published results that the bound rests on."""


def saving(data: Data, target_pct: int) -> pa.Table:
    """What each system would save at a resumption rate: one row for the fit, one for the published bound."""
    name, wanted = "resumption_saving", int(target_pct)
    if wanted in _ALWAYS:
        return data.metric(name).filter(pc.field("target_pct") == wanted)
    setting = f"SET VARIABLE target_pct = {wanted}"
    return data.metric(name, where=f"target_pct = {wanted}", settings=[setting])


def by_fit(found: pa.Table) -> pa.Table:
    """The systems that the fit has a figure for."""
    return found.filter((pc.field("basis") == "fit") & pc.is_valid(pc.field("saving_s_per_day")))


def refused(found: pa.Table) -> pa.Table:
    """The systems without a figure by the fit, and why."""
    return found.filter((pc.field("basis") == "fit") & ~pc.is_valid(pc.field("saving_s_per_day")))


def by_bound(found: pa.Table) -> pa.Table:
    """The systems that a published bound says something about."""
    return found.filter(
        (pc.field("basis") == "published bound") & pc.is_valid(pc.field("saving_high_s_per_day"))
    )
