"""Posture: who is unprotected or old, findings, certificates, and post-quantum readiness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.drawing import grid, number
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.pages.posture.certificates import certificates_section
from zscope.app.dashboard.pages.posture.findings import findings_section
from zscope.app.dashboard.protection_records import chosen_records, of_records
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.tiles import MetricFigure, tile, tile_places
from zscope.app.shared.column_labels import label
from zscope.schemas.attls import attls_defaults

if TYPE_CHECKING:
    from collections.abc import Callable

    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="Posture and certificates", icon="security", area="Security", order=10)

FIGURES = (
    (Card("old-versions"), Card("unprotected-jobs"), Card("certificate-next")),
    (Card("protocols-over-time", page="ciphers"), Card("finding-first")),
)
QUANTUM_FIGURES = ((Card("quantum-readiness"), Card("key-exchanges")), (Card("key-groups"),))
Place = Literal["server_port", "system", "job_name"]
BY_PLACE: dict[Place, str] = {
    "server_port": "protection-by-port", "system": "protection-by-system", "job_name": "protection-by-job",
}  # fmt: skip
_SHARES = {
    "Unprotected": ("unprotected", "connections"),
    "Old version": ("old_version", "tls_connections"),
    "Weak encryption": ("weak_cipher", "tls_connections"),
    "No forward secrecy": ("without_pfs", "tls_connections"),
    "Unknown": ("unknown", "connections"),
}
"""The shares of the tiles: the beginning of a column of the metric, and the column that it is a share of."""


def protection_section(data: PageData) -> None:
    """Draw how well the connections are protected: in all, by place, and each exposed client."""
    records = chosen_records(data, "posture_records")
    if records is not None:
        for place, (title, (counted, of)) in zip(tile_places(len(_SHARES)), _SHARES.items(), strict=True):
            share = 100 * records[f"{counted}_connections"] / records[of] if records[of] else None
            figure = MetricFigure(
                "tls_posture", f"100 * {counted}_connections / {of}", ("source",), of_records(records)
            )
            tile(place, data, title, number(share, 1, "%"), figure, f"Of the {label(of).lower()}.")
    by: Place = st.segmented_control(
        "By", get_args(Place), default="server_port", required=True, format_func=label, key="posture_by",
        bind="query-params", persist_state="session",
    )  # fmt: skip
    records_and_places = (Card("exposure-records"), Card("unprotected"))
    draw_figures(
        data, [(Card(BY_PLACE[by]),), records_and_places, (Card("exposed-clients", page="connections"),)]
    )


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
    draw_figures(data, QUANTUM_FIGURES)
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


_PARTS: dict[str, Callable[[PageData], None]] = {
    "findings": findings_section,
    "protection": protection_section,
    "certificates": certificates_section,
    "post-quantum readiness": quantum_section,
}


def render(data: PageData) -> None:
    """Draw the page."""
    draw_figures(data, FIGURES)
    part: str = st.segmented_control(
        "Show", list(_PARTS), default="findings", required=True, format_func=str.capitalize,
        key="posture_part", label_visibility="collapsed", bind="query-params", persist_state="session",
    )  # fmt: skip
    _PARTS[part](data)
