"""A synthetic world: systems whose records, reports and displays agree, and whose CPU time follows a model.

Two clients call two servers behind a distributor. Every connection is on both ends, in the TCP and in the
zERT records, and in the counters of summaries and caches; RMF shows what a stated cost model says they cost.
The manifest holds everything that a reader should find.
"""

from __future__ import annotations

from zscope.parsers.synthetic.recipe import RecipeError
from zscope.parsers.synthetic.world.cost import CostModel, SideCost, read_costs
from zscope.parsers.synthetic.world.recipe import PACKINGS, RUN_CHOICES, ZONE, WorldRecipe, small_world
from zscope.parsers.synthetic.world.write import MANIFEST, write_world

__all__ = [
    "MANIFEST",
    "PACKINGS",
    "RUN_CHOICES",
    "ZONE",
    "CostModel",
    "RecipeError",
    "SideCost",
    "WorldRecipe",
    "read_costs",
    "small_world",
    "write_world",
]
