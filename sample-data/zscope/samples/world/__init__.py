"""A synthetic sysplex ("world") whose records, reports and displays agree and whose CPU time follows a model.

Two clients connect to two servers through a distributor. Every connection occurs at both ends, in the TCP and
zERT records, and in the counters of summaries and caches. RMF shows the CPU time that a declared cost model
computes for it. The manifest contains all expected values.
"""

from __future__ import annotations

from zscope.samples.dump.recipe import RecipeError
from zscope.samples.world.cost import CostModel, SideCost, read_costs
from zscope.samples.world.declared_runs import read_planned_runs
from zscope.samples.world.world_folder import MANIFEST, write_world
from zscope.samples.world.world_recipe import (
    PACKINGS,
    RECORDINGS,
    RUN_CHOICES,
    ZONE,
    WorldRecipe,
    small_world,
)

__all__ = [
    "MANIFEST",
    "PACKINGS",
    "RECORDINGS",
    "RUN_CHOICES",
    "ZONE",
    "CostModel",
    "RecipeError",
    "SideCost",
    "WorldRecipe",
    "read_costs",
    "read_planned_runs",
    "small_world",
    "write_world",
]
