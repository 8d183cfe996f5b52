"""Rows of the z/VM cases: the virtual machines of the link and some that have nothing to do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zscope.parsers.synthetic.systems.plan import declared, zone

if TYPE_CHECKING:
    from zscope.parsers.synthetic.systems.plan import LinkCase

_OTHERS_S = {"OPERATOR": 0.012, "MAINT": 1.31, "PERFSVM": 4.02, "LINUX01": 120.4}
_CP_SHARE = 0.25
"""Of the CPU time of a virtual machine, about."""


def user_rows(case: LinkCase) -> list[dict[str, Any]]:
    """The virtual machines with the CPU time each used."""
    period = declared()["zvm"]["period_s"]
    used = {**_OTHERS_S, **case.tcpu_s}
    return [
        _lead(case)
        | {
            "period_s": float(period),
            "userid": name,
            "cpu_pct": round(100 * seconds / period, 2),
            "tcpu_s": round(seconds, 2 if seconds >= 1 else 3),
            "vcpu_s": round(seconds * (1 - _CP_SHARE), 2 if seconds >= 1 else 3),
            "tv_ratio": round(1 / (1 - _CP_SHARE), 1),
        }
        for name, seconds in sorted(used.items())
    ]


def channel_rows(case: LinkCase) -> list[dict[str, Any]]:
    """The channel path of the link, and one of disks that other partitions use as well."""
    plan = declared()["zvm"]
    link = (plan["chpid"], True, case.write_bytes_per_s, case.read_bytes_per_s)
    return [
        _lead(case)
        | {
            "period_s": float(plan["period_s"]),
            "chpid": chpid,
            "shared": shared,
            "write_bytes_per_s": float(written),
            "read_bytes_per_s": float(read),
        }
        for chpid, shared, written, read in (("32", True, 1_200_000, 3_400_000), link)
    ]


def _lead(case: LinkCase) -> dict[str, Any]:
    local = (case.run.begin + zone()).replace(tzinfo=None)
    return {"system": case.run.system, "run": case.run.name, "interval_start_local": local}
