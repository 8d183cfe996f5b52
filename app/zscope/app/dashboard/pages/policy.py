"""AT-TLS policy: each rule with its traffic, CPU time, errors, findings, and parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from zscope.app.dashboard.drawing import (
    clean,
    grid,
    no_data,
    number,
    plain,
    selectable_grid,
    without_effect,
)
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.links import page_link
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.tiles import tile, tile_places
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="AT-TLS policy", icon="policy", area="Security", order=30)

FIGURES = ((Card("rule-handshakes"),),)
METRIC = "rule_use"
_LONGEST = 300
_MOST_MESSAGES = 200
_SHOWN = (
    "system", "stack", "rule_name", "direction", "server_ports", "job_condition", "full_handshakes",
    "resumed_handshakes", "resumed_pct", "megabytes", "high_cpu_s_per_day", "status", "errors",
    "most_frequent_error", "findings", "worst_finding", "environment_action", "group_action",
    "connection_action",
)  # fmt: skip
_SCOPES = ("group", "environment", "connection")
_NO_RULE = "no rule"


def rules(data: PageData) -> pa.Table:
    """Return the rules with their use, in the order in which they are tried."""
    return data.metric(METRIC)


def parameters(data: PageData, rule: dict[str, Any]) -> pa.Table:
    """Return the parameters of the actions of a rule; the action named last overrides those before it."""
    actions = " OR ".join(
        f"(action_scope = {literal(scope)} AND action_name = {literal(name)})"
        for scope in _SCOPES
        if (name := rule[f"{scope}_action"])
    )
    if not actions:
        actions = "false"
    return data.rows(f"""
        SELECT action_scope, action_name, section, parameter,
            string_agg(coalesce(parameter_value, code), ', ' ORDER BY member_no) AS value,
            any_value(file) AS file, min(line_no) AS line_no
        FROM (
            FROM tls_action
            WHERE ({actions}) AND (system = {literal(rule["system"])} OR system IS NULL)
            QUALIFY dense_rank() OVER (
                PARTITION BY action_scope, action_name
                ORDER BY system IS NULL, taken_utc DESC NULLS LAST, load_id DESC, file
            ) = 1
        )
        WHERE parameter IS NOT NULL
        GROUP BY action_scope, action_name, section, parameter
        ORDER BY list_position({list(_SCOPES)!r}, action_scope), line_no, parameter
    """)


def messages(data: PageData, rule: dict[str, Any]) -> pa.Table:
    """Return the newest error messages that name a rule."""
    return data.rows(f"""
        SELECT m.taken_utc, m.message_id, m.return_code, t.text AS meaning, m.event, m.job_name, m.local_ip,
            m.local_port, m.remote_ip, m.remote_port
        FROM tls_message AS m LEFT JOIN code_attls_return_code AS t ON m.return_code = t.code
        WHERE m.return_code > 0 AND m.system = {literal(rule["system"])}
            AND upper(m.ttls_rule) = upper({literal(rule["rule_name"])})
        ORDER BY m.taken_utc DESC NULLS LAST LIMIT {_MOST_MESSAGES}
    """)


def render(data: PageData) -> None:
    """Draw the page."""
    found = rules(data)
    if not found.num_rows:
        no_data(
            "No AT-TLS policy is loaded, and no display or message names a rule. Policies come from "
            "reports of pasearch or from policy files.",
            "zscope ingest PASEARCH.TXT ATTLS.POLICY",
        )
        return
    _numbers(data, found)
    draw_figures(data, FIGURES)
    st.header("Rules")
    rule = selectable_grid(
        found, "policy-rules", (data.version, data.filters), sources=[METRIC], columns=_SHOWN
    )
    st.caption(
        "Handshakes and megabytes of the last seven days; CPU time is the share of the TLS CPU cost, "
        "at most. Select a row to see the parameters, errors and findings of the rule."
    )
    without_effect(data.without_effect(METRIC))
    if rule:
        _rule(data, rule)


def _numbers(data: PageData, found: pa.Table) -> None:
    """Draw how many rules are in force, and what has to do with none or with errors."""
    rows = found.to_pylist()
    in_force = [row for row in rows if row["place"] is not None]
    shown = {
        "Rules in force": len(in_force),
        "Without TLS traffic in seven days": sum(row["full_handshakes"] is None for row in in_force),
        "Handshakes without a rule": sum(
            (row["full_handshakes"] or 0) + (row["resumed_handshakes"] or 0)
            for row in rows
            if row["rule_name"] == _NO_RULE
        ),
        "Errors in messages": sum(row["errors"] for row in rows),
    }
    for column, (title, value) in zip(tile_places(len(shown)), shown.items(), strict=True):
        tile(column, data, title, number(value, 0), None)
    if shown["Errors in messages"]:
        worst = max(rows, key=lambda row: row["errors"])
        words = f"Most errors: {worst['rule_name']} of {worst['system']} ({worst['most_frequent_error']})"
        st.markdown(f"{plain(words, _LONGEST)}\\.")


def _rule(data: PageData, rule: dict[str, Any]) -> None:
    st.header(clean(f"{rule['rule_name']}, {rule['system']}"))
    with st.container(horizontal=True):
        page_link("tls_price", "What a change of this rule would save", tls_advice_of="Rule")
        if (ports := rule["server_ports"]) and ports.isdigit():
            page_link("connections", "Its connections", system=rule["system"], port=ports)
    settings = parameters(data, rule)
    if settings.num_rows:
        st.markdown("**Parameters of its actions**")
        grid(settings, "policy-parameters", sources=["tls_action"])
    else:
        st.caption("The loaded policy has no parameters of its actions.")
    errors = messages(data, rule)
    if errors.num_rows:
        st.markdown("**Errors**, the newest first")
        grid(errors, "policy-errors", sources=["tls_message"])
    if rule["worst_finding"]:
        st.markdown(f"**Findings**, the worst: {plain(rule['worst_finding'], _LONGEST)}")
        page_link("posture", "All findings", system=rule["system"])
