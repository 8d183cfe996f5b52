"""Post-quantum readiness: the key exchange of the traffic, as far as it is known, and what is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.drawing import grid, number
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.tiles import tile
from zscope.schemas.attls import attls_defaults

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

FIGURES = ((Card("quantum-readiness"), Card("key-exchanges")), (Card("key-groups"),))
_ALLOWED = pa.schema([
    ("system", pa.string()), ("action_name", pa.string()), ("parameter", pa.string()),
    ("groups", pa.string()), ("has_hybrid", pa.bool_()),
])  # fmt: skip


def _is_hybrid(group: str) -> bool:
    """Whether a group is known by its name to be a hybrid group with ML-KEM."""
    return "MLKEM" in group.upper()


def allowed_groups(data: PageData) -> pa.Table:
    """Return the groups for TLSv1.3 that each action of the policies allows, with their names."""
    found = data.rows(f"""
        SELECT system, action_name, parameter,
            list(DISTINCT coalesce(code, parameter_value) ORDER BY coalesce(code, parameter_value)) AS codes
        FROM tls_action
        {data.where(("system", "stack"), "", "parameter IN ('ClientKeyShareGroups', 'ServerKeyShareGroups')")}
        GROUP BY system, action_name, parameter ORDER BY ALL
    """)
    names = attls_defaults().groups
    rows = []
    for row in found.to_pylist():
        groups = [names.get(code, code) for code in row.pop("codes")]
        rows.append({**row, "groups": ", ".join(groups), "has_hybrid": any(map(_is_hybrid, groups))})
    return pa.Table.from_pylist(rows, _ALLOWED)


def quantum_section(data: PageData) -> None:
    """Draw what is known of the key exchange of the traffic, and name what is not."""
    draw_figures(data, FIGURES)
    _policy(data, allowed_groups(data))


def _policy(data: PageData, allowed: pa.Table) -> None:
    st.header("What the policy allows")
    if not allowed.num_rows:
        st.caption(
            "No loaded AT-TLS policy states groups for TLSv1.3; then the defaults of System SSL count."
        )
        return
    hybrid = sum(allowed["has_hybrid"].to_pylist())
    tile(st.container(), data, "Lists of groups", number(allowed.num_rows, 0), None)
    tile(st.container(), data, "With a hybrid with ML-KEM", number(hybrid, 0), None)
    grid(allowed, "posture-allowed-groups", sources=["tls_action"])
