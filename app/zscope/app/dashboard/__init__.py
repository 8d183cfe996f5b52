"""The dashboard: Streamlit pages over typed questions to the store.

A page (`pages/`) is a function that draws. What it asks stands in `queries/`, and what all pages share in the
modules here: the answers with their cache, the filters, charts and tables.
"""

from __future__ import annotations
