"""Synthetic data of other systems: MQ channels, a z/VM link, and session floods on z/TPF.

The values follow `plan.toml` and are written into the kinds of files that users have: records, formatter
output, listings, chart exports and tables.
"""

from __future__ import annotations

from zscope.samples.systems.systems_folder import MANIFEST, write_systems

__all__ = ["MANIFEST", "write_systems"]
