"""How `zscope dashboard` starts Streamlit: its options, and the environment variables that the pages read.

Streamlit listens only where the command allows it, has no developer tools, and uses the colors of zscope.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STORE = "ZSCOPE_STORE"
MEMORY = "ZSCOPE_DASHBOARD_MEMORY"
THREADS = "ZSCOPE_DASHBOARD_THREADS"
SIGN_IN = "ZSCOPE_DASHBOARD_SIGN_IN"
"""Environment variables by which the command passes its options to the process that draws the pages."""

_ALWAYS: Mapping[str, str] = {
    "browser.gatherUsageStats": "false",  # otherwise every page view is reported to Streamlit
    "runner.postScriptGC": "false",  # a full collection would take a third of the time of a page
    "client.showErrorDetails": "none",  # the details of a defect are in the log; readers get a message
    "client.showErrorLinks": "false",
    "client.toolbarMode": "viewer",
    "global.developmentMode": "false",
    # The filter bar sets the values of its widgets, whatever their defaults are.
    "global.disableWidgetStateDuplicationWarning": "true",
    "runner.magicEnabled": "false",
    "server.enableStaticServing": "false",
    "server.enableXsrfProtection": "true",
    "server.fileWatcherType": "none",
    "server.maxUploadSize": "1",  # the dashboard accepts no uploads
    "server.showEmailPrompt": "false",
    "theme.paddingTop": "0rem",
    "theme.paddingBottom": "3rem",
    "theme.baseFontSize": "15",
    "theme.metricValueFontSize": "1.7rem",
    "theme.metricValueFontWeight": "600",
    # Pages have headings of the first two levels: no level is skipped.
    "theme.headingFontSizes": '["1.9rem", "1.45rem", "1.25rem"]',
    # Captions have 60 % of this colour: still 4.9:1 on white.
    "theme.light.textColor": "#14161a",
    # Code in captions has 60 % of these colours, too.
    "theme.light.codeTextColor": "#0a1512",
    "theme.dark.codeTextColor": "#f2f5f3",
    "theme.light.primaryColor": "#0a5bc4",
    "theme.dark.primaryColor": "#3a8fc4",
}


def program() -> list[str]:
    """Return the arguments with which Python starts Streamlit."""
    folder = Path(__file__).parents[1] / "dashboard" / "server"
    return ["-m", "zscope.app.dashboard.server.start", "run", str(folder / "protected_app.py")]


def streamlit_options(
    address: str,
    port: int,
    hosts: Sequence[str],
    base_path: str,
    secrets: Path | None,
    *,
    open_browser: bool,
) -> list[str]:
    """Return the command-line options of Streamlit; they override its configuration files."""
    chosen = {
        **_ALWAYS,
        "server.address": address,
        "server.port": str(port),
        "server.baseUrlPath": base_path,
        "server.headless": "false" if open_browser else "true",
    }
    options = [f"--{name}={value}" for name, value in chosen.items()]
    options += [f"--server.allowedHosts={host}" for host in hosts]
    return [*options, *([f"--secrets.files={secrets.resolve()}"] if secrets else [])]


def environment(store: Path, memory: str | None, threads: int | None, *, sign_in: bool) -> dict[str, str]:
    """Return the environment variables for the pages; all are set, so that none is inherited."""
    return {
        STORE: str(store),
        MEMORY: memory or "",
        THREADS: str(threads or ""),
        SIGN_IN: "yes" if sign_in else "",
    }
