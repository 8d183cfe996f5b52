"""What pages ask: typed functions over the tables and metrics of the store; no page holds a statement."""

from __future__ import annotations
