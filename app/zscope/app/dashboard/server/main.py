"""Draw the dashboard; `zscope dashboard` has Streamlit run this file."""

from __future__ import annotations

from zscope.app.dashboard.shell import run

if __name__ == "__main__":
    run()
