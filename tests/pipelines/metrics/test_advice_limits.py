"""No advice recommends a value outside the limits of its parameter, whatever the policy has today."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from tests.pipelines.metrics.advice_rules import PARAMETERS, beyond_limits, faults_of
from tests.pipelines.metrics.exact_advice import rows_of

Row = dict[str, Any]
CAUSES = ("no session offered", "expired", "not in the cache")
CACHES = ((1, 511), (10_079, 1), (10_080, 512), (10_081, 513), (None, None))
"""Minutes and megabytes around the limits of the sysplex caches."""
OF_POLICY = [name for name, row in PARAMETERS.items() if row["section"] == "TTLSGskAdvancedParms"]
OF_CACHES = [name for name, row in PARAMETERS.items() if row["section"] == "GSKSRVR"]
NOT_FOR_RESUMPTION = {
    "GSK_SESSION_TICKET_CLIENT_MAXCACHED",
    "GSK_SESSION_TICKET_CLIENT_MAXSIZE",
    "GSK_SESSION_TICKET_SERVER_ALGORITHM",
    "GSK_SESSION_TICKET_SERVER_KEY_REFRESH",
}
AT_LIMITS = {
    name: "On" if PARAMETERS[name]["most"] is None else str(PARAMETERS[name]["most"]) for name in OF_POLICY
}


def values(parameter: str) -> list[str | None]:
    """Values around the limits of a parameter, its default, and what is no value of it."""
    row = PARAMETERS[parameter]
    limits = [limit for limit in (row["least"], row["most"]) if limit is not None]
    near = [str(limit + distance) for limit in limits for distance in (-1, 0, 1)]
    return [None, *near, row["default_value"], "On", "off", "many"]


def settings() -> list[Row]:
    """Return what limits resumption under many rules: for each value of each parameter, beside the defaults
    of the others or their limits, and for each cause and each size of the sysplex caches.
    """
    use: list[Row] = []
    policy: list[Row] = []

    def add(system: str, side: str, full_tls13: int, rule: str, **is_set: str | None) -> None:
        name = f"{rule} {side} {full_tls13}"
        use.append(
            {
                "system": system, "shared_by": "rule", "rule_name": name, "full_handshakes": 100,
                "resumed_handshakes": 100, "full_tls13": full_tls13,
            }
        )  # fmt: skip
        policy.extend(
            {"system": system, "rule_name": name, "parameter": parameter.upper(), "parameter_value": value}
            for parameter, value in (is_set | {"HandshakeRole": side}).items()
            if value is not None
        )

    of_caches = list(product(CAUSES, CACHES))
    sharing = {name: "On" for name in OF_POLICY if "SYSPLEX" in name}
    for side, full_tls13 in product(("Server", "Client"), (0, 100)):
        for parameter, (way, others) in product(OF_POLICY, (("alone", {}), ("limits", AT_LIMITS))):
            for value in values(parameter):
                add("SYSA", side, full_tls13, f"{parameter} {value} {way}", **(others | {parameter: value}))
        for number in range(len(of_caches)):
            add(f"C{number}", side, full_tls13, "limits", **AT_LIMITS)
            add(f"C{number}", side, full_tls13, "shared", **sharing)
    causes = [
        {
            "system": f"C{number}", "versions": versions, "full_handshakes": 100, "none_offered": 1,
            "expired": 1, "not_found": 1, "cause": cause,
            "timeout_min": timeout_min, "maximum_size_mb": maximum_size_mb,
        }
        for number, (cause, (timeout_min, maximum_size_mb)) in enumerate(of_caches)
        for versions in ("TLSv1.3", "TLSv1.2 and older")
    ]  # fmt: skip
    given = {"tls_use": use, "rule_parameter": policy, "full_handshake_cause": causes, "handshake_hour": []}
    return rows_of("resumption_setting", given)


def test_no_setting_is_recommended_beyond_its_limits() -> None:
    rows = settings()
    assert len(rows) > 500
    for row in rows:
        assert beyond_limits(row) is None, row
        assert (row["parameter"] is None) == (
            row["recommended"] in {"clients that offer a session", "servers that resume sessions"}
        )
        parameter, value, *_ = row["rule_name"].split()
        # A setting that is at its limit is not set higher, but the next one.
        if parameter == row["parameter"] and value.isdigit():
            assert row["value_today"] == value
            assert int(value) < PARAMETERS[parameter]["most"]
    recommended = {row["parameter"] for row in rows} - {None}
    assert recommended == {*OF_POLICY, *OF_CACHES} - NOT_FOR_RESUMPTION


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, None),
        ({"recommended": "longer, up to 86401"}, "but the limit is 86400"),
        ({"recommended": "longer"}, "but the limit is 86400"),
        ({"value_today": "86400"}, "not below the limit"),
        ({"parameter": "GSK_SYSPLEX_SIDCACHE", "recommended": "On", "value_today": "on"}, "not On"),
        ({"parameter": "GSK_SYSPLEX_SIDCACHE", "recommended": "On", "value_today": "Off"}, None),
        ({"recommended": "On"}, "not On"),
        ({"saving_low_s_per_day": None}, "half a range"),
        ({"saving_low_s_per_day": 3.0}, "no range"),
        ({"change": "AES-GCM instead of RC4"}, "a saving without a cost"),
        ({"sentence": "it is less"}, "another saving"),
        ({"saving_low_s_per_day": None, "saving_high_s_per_day": None}, "another saving"),
    ],
)
def test_wrong_advice_is_noticed(changes: Row, fault: str | None) -> None:
    row = {
        "change": "resume more", "status": "range", "sentence": "at most 2 CPU seconds", "value_today": "300",
        "parameter": "GSK_V3_SESSION_TIMEOUT", "recommended": "longer, up to 86400", "saving_s_per_day": None,
        "saving_low_s_per_day": 0.0, "saving_high_s_per_day": 2.0,
    }  # fmt: skip
    found = list(faults_of([row | changes]))
    assert [fault in each for each in found if fault] == [True] * bool(fault)
    assert len(found) == bool(fault)
