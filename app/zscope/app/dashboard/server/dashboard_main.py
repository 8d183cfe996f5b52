"""Draw the dashboard; `zscope dashboard` has Streamlit run this file."""

from __future__ import annotations

from altair.utils.schemapi import disable_debug_mode

from zscope.app.dashboard.shell import run

if __name__ == "__main__":
    disable_debug_mode()  # the tests validate the charts; here it would be most of the time of a page
    run()
