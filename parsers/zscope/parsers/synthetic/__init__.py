"""Synthetic SMF dumps of any size with known answers, for tests, benchmarks and demonstrations.

What the records hold is made up but hangs together: connections appear in every record type that reports
them, resumed TLS sessions go back to a full handshake, counters run on, RMF figures add up. Layouts are the
declared ones; only what their sources settle is written, and the rest is absent or filler.
"""

from __future__ import annotations

from zscope.parsers.synthetic.damage import DAMAGES
from zscope.parsers.synthetic.dump import generate
from zscope.parsers.synthetic.manifest import DamageDone, Manifest
from zscope.parsers.synthetic.presets import PRESETS, mixed, sample, zert_only
from zscope.parsers.synthetic.recipe import (
    FRAMINGS,
    PACKINGS,
    CpuCost,
    Kind,
    Recipe,
    RecipeError,
    System,
    named_systems,
)

__all__ = [
    "DAMAGES",
    "FRAMINGS",
    "PACKINGS",
    "PRESETS",
    "CpuCost",
    "DamageDone",
    "Kind",
    "Manifest",
    "Recipe",
    "RecipeError",
    "System",
    "generate",
    "mixed",
    "named_systems",
    "sample",
    "zert_only",
]
