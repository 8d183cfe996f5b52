"""Starting Streamlit on the dashboard."""

from __future__ import annotations
