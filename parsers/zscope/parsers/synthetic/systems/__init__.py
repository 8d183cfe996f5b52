"""Synthetic data of the other measured systems: MQ channels, a z/VM link, floods on z/TPF.

The figures follow a plan that is written beside them, and go into the files that people would have: records,
output of the formatter, listings, charts' exports, tables by hand.
"""

from __future__ import annotations

from zscope.parsers.synthetic.systems.write import MANIFEST, write_systems

__all__ = ["MANIFEST", "write_systems"]
