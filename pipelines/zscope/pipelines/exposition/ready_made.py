"""Files for Grafana and Prometheus that come with the program: a dashboard and alert rules."""

from __future__ import annotations

from importlib.resources import files

DASHBOARD_MARK = b'{\n  "title": "zscope: TLS on IBM Z"'
ALERT_RULES_MARK = b"# Alert rules of zscope"
"""First bytes of the files."""


def dashboard() -> str:
    """Return the dashboard for Grafana, as JSON.

    >>> dashboard().encode().startswith(DASHBOARD_MARK)
    True
    """
    return _text("grafana-dashboard.json")


def alert_rules() -> str:
    """Return the rules for Prometheus, as YAML.

    >>> alert_rules().encode().startswith(ALERT_RULES_MARK)
    True
    """
    return _text("alert-rules.yaml")


def _text(name: str) -> str:
    return (files("zscope.pipelines.exposition") / name).read_text(encoding="utf-8")
