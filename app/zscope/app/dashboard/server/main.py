"""What Streamlit starts. Beside the pages it would take these for programs of their own."""

from __future__ import annotations

from zscope.app.dashboard.shell import run

run()
