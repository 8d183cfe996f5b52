"""The variables of the environment by which the command hands its options to the program with the pages."""

from __future__ import annotations

STORE = "ZSCOPE_STORE"
MEMORY = "ZSCOPE_DASHBOARD_MEMORY"
THREADS = "ZSCOPE_DASHBOARD_THREADS"
SIGN_IN = "ZSCOPE_DASHBOARD_SIGN_IN"
