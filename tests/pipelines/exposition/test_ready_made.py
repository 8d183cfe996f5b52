"""The dashboard and the alert rules use only exported names, and have the form their readers need."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML
from tests.pipelines.exposition.promql import PromQLError, parse

from zscope.pipelines.exposition import exported_metrics, series_query
from zscope.pipelines.exposition.metrics_page import about_names
from zscope.pipelines.metrics import metric

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDER = files("zscope.pipelines.exposition")
ALERT_RULES = (FOLDER / "alert-rules.yaml").read_text(encoding="utf-8")
DASHBOARD = (FOLDER / "grafana-dashboard.json").read_text(encoding="utf-8")
SYSTEM_VARIABLE = "$system"
VALUES = {
    "shared_by": {"system", "job"},
    "part": {"TLS"},
    "status": {"estimate", "conditional", "range", "not enough data"},
    "source": {"zERT"},
    "side": {"server"},
    "kind": {"finding"},
    "severity": {"high"},
    "system": {SYSTEM_VARIABLE},
}
"""The values of labels that the expressions may choose, as the declarations of the metrics list them."""


@cache
def exported() -> dict[str, frozenset[str]]:
    """The labels of every metric on the page, by its name."""
    names = dict(about_names())
    for name in exported_metrics():
        query = series_query(metric(name), newest=True)
        labels = frozenset(label.name for label in query.labels)
        for family in query.families:
            state = {family.state.name} if family.state else set()
            names[f"zscope_{name}_{family.name}"] = labels | state
        if query.in_turn:
            names[f"zscope_{name}_newest_timestamp_seconds"] = frozenset(query.parts)
    return names


def rules() -> list[dict[str, Any]]:
    [group] = YAML(typ="safe").load(ALERT_RULES)["groups"]
    return list(group["rules"])


def panels() -> list[dict[str, Any]]:
    return list(json.loads(DASHBOARD)["panels"])


def expressions() -> Iterator[tuple[str, str]]:
    yield from ((rule["alert"], rule["expr"]) for rule in rules())
    for panel in panels():
        yield from ((f"{panel['title']} {target['refId']}", target["expr"]) for target in panel["targets"])


@pytest.mark.parametrize(("where", "expression"), list(expressions()))
def test_expressions_use_exported_names(where: str, expression: str) -> None:
    use = parse(expression)
    assert use.selectors, where
    for name, matchers in use.selectors:
        assert name in exported(), f"{where}: there is no metric {name}"
        assert set(matchers) <= exported()[name], f"{where}: {name} has no label {set(matchers)}"
        for label, value in matchers.items():
            assert value in VALUES[label], f"{where}: {label}={value}"
    for name, label in use.grouped:
        assert label in exported()[name], f"{where}: {name} has no label {label}"


def test_there_is_a_rule_for_each_of_the_promised_events() -> None:
    metrics = {rule["alert"]: {name for name, _ in parse(rule["expr"]).selectors} for rule in rules()}
    assert "zscope_certificate_expiry_first_not_after_timestamp_seconds" in metrics["ZscopeCertificateEnds"]
    assert "zscope_tls_posture_unprotected_connections" in metrics["ZscopeUnprotectedShare"]
    assert "zscope_resumption_rate_resumed_handshakes" in metrics["ZscopeResumptionFallen"]
    assert "zscope_tls_price_cpu_per_day_seconds" in metrics["ZscopePriceRisen"]
    assert "zscope_tls_posture_newest_timestamp_seconds" in metrics["ZscopeDataStale"]


def test_rules_have_what_prometheus_demands() -> None:
    assert len({rule["alert"] for rule in rules()}) == len(rules())
    for rule in rules():
        assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
        assert set(rule["annotations"]) == {"summary", "description"}
        assert rule["labels"]["severity"] in {"info", "warning", "critical"}


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not on PATH")
def test_promtool_accepts_the_rules(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(ALERT_RULES, encoding="utf-8")
    done = subprocess.run(["promtool", "check", "rules", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _object(required: dict[str, Any], **optional: Any) -> dict[str, Any]:  # noqa: ANN401 - a JSON schema
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": sorted(required),
        "additionalProperties": False,
    }


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_TEXT, _WHOLE, _TRUTH = (
    {"type": "string", "minLength": 1},
    {"type": "integer", "minimum": 0},
    {"type": "boolean"},
)
_SOURCE = _object({"type": {"const": "prometheus"}, "uid": {"const": "${datasource}"}})
_VARIABLE = _object(
    {"name": _TEXT, "label": _TEXT, "type": {"enum": ["datasource", "query"]}, "query": {}},
    datasource=_SOURCE, definition=_TEXT, refresh={"enum": [0, 1, 2]}, includeAll=_TRUTH, multi=_TRUTH,
    current={"type": "object"}, sort=_WHOLE,
)  # fmt: skip
_TARGET = _object(
    {"refId": {"type": "string", "pattern": "^[A-Z]$"}, "datasource": _SOURCE, "expr": _TEXT,
     "legendFormat": {"type": "string"}},
    instant=_TRUTH, format={"const": "table"},
)  # fmt: skip
_DEFAULTS = _object(
    {"unit": {"enum": ["s", "percentunit", "short"]}},
    min={"type": "number"}, max={"type": "number"}, thresholds={"type": "object"},
)  # fmt: skip
_PANEL = _object(
    {
        "id": {"type": "integer", "minimum": 1},
        "type": {"enum": ["stat", "table", "timeseries", "bargauge", "barchart"]},
        "title": _TEXT, "description": _TEXT, "datasource": _SOURCE,
        "gridPos": _object({"x": {"type": "integer", "minimum": 0, "maximum": 23}, "y": _WHOLE,
                            "w": {"type": "integer", "minimum": 1, "maximum": 24},
                            "h": {"type": "integer", "minimum": 1}}),
        "fieldConfig": _object({"defaults": _DEFAULTS, "overrides": {"type": "array"}}),
        "options": {"type": "object"}, "targets": {**_list(_TARGET), "minItems": 1},
    },
    transformations=_list(_object({"id": {"const": "organize"}, "options": {"type": "object"}})),
)  # fmt: skip
SCHEMA = _object(
    {
        "title": _TEXT, "uid": {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,40}$"}, "description": _TEXT,
        "tags": _list(_TEXT), "schemaVersion": {"type": "integer", "minimum": 36}, "version": _WHOLE,
        "editable": _TRUTH, "timezone": {"enum": ["browser", "utc"]},
        "refresh": {"type": "string", "pattern": r"^\d+[smhd]$"},
        "time": _object({"from": _TEXT, "to": _TEXT}), "templating": _object({"list": _list(_VARIABLE)}),
        "annotations": _object({"list": {"type": "array"}}), "panels": _list(_PANEL),
    }
)  # fmt: skip
"""The parts of Grafana's model of a dashboard that the file uses, written from its documentation."""


def test_the_dashboard_is_valid() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(json.loads(DASHBOARD), SCHEMA)


def test_panels_have_their_own_place_and_number() -> None:
    assert len({panel["id"] for panel in panels()}) == len(panels())
    cells = [
        (place["x"] + right, place["y"] + down)
        for panel in panels()
        for place in [panel["gridPos"]]
        for right in range(place["w"])
        for down in range(place["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24


@pytest.mark.parametrize(
    ("text", "metrics"),
    [
        ("a - b / 2", ["a", "b"]),
        ('sum by (x) (rate_of{y="1",z=~"a|b"} offset 7d) > 1.2', ["rate_of"]),
        ("a and on (x) b", ["a", "b"]),
        ("topk(3, max(a) by (x))", ["a"]),
        ("time() - -a[5m]", ["a"]),
    ],
)
def test_the_parser_reads_promql(text: str, metrics: list[str]) -> None:
    assert [name for name, _ in parse(text).selectors] == metrics


@pytest.mark.parametrize(
    "text",
    ["sum(a", "a b", "a{x}", "a +", "nothing(a)", "a offset x", "time(a)", 'a{x="1"', "a == ", "a ? b"],
)
def test_the_parser_refuses_what_is_not_promql(text: str) -> None:
    with pytest.raises(PromQLError):
        parse(text)


def test_labels_of_groups_and_joins_are_returned() -> None:
    use = parse("sum by (x, y) (a) * on (z) group_left (w) b")
    assert use.selectors == [("a", {}), ("b", {})]
    assert sorted(use.grouped) == [("a", "w"), ("a", "x"), ("a", "y"), ("a", "z"), ("b", "w"), ("b", "z")]
