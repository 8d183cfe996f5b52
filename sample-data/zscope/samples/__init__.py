"""Synthetic data with known contents, for tests, benchmarks and demonstrations.

This package writes one SMF dump of any size (`generate`). `zscope.samples.reports` adds RMF, NETSTAT and
GSKSRVR reports about the dump, `zscope.samples.world` writes a whole sysplex over days, and
`zscope.samples.systems` data of MQ, z/VM and z/TPF.

The contents are made up but consistent: connections occur in every record type that reports them, resumed TLS
sessions refer to a full handshake, counters continue, and RMF values add up. Only fields with a documented
layout are written; the others are absent or filler.
"""

from __future__ import annotations

from zscope.samples.dump.damage import DAMAGES
from zscope.samples.dump.manifest import DamageDone, Manifest
from zscope.samples.dump.recipe import (
    FRAMINGS,
    PACKINGS,
    PRESETS,
    CpuCost,
    Recipe,
    RecipeError,
    RecordKind,
    System,
    mixed,
    named_systems,
    sample,
    zert_only,
)
from zscope.samples.dump.write import generate

__all__ = [
    "DAMAGES",
    "FRAMINGS",
    "PACKINGS",
    "PRESETS",
    "CpuCost",
    "DamageDone",
    "Manifest",
    "Recipe",
    "RecipeError",
    "RecordKind",
    "System",
    "generate",
    "mixed",
    "named_systems",
    "sample",
    "zert_only",
]
