"""Find the families of reports: each folder beside this module declares its own."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.schemas.reports import report_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.parsers.text.report_family import ReportFamily


@cache
def families() -> tuple[ReportFamily, ...]:
    """Return all families, in the order in which they are tried.

    >>> [family.name for family in families()][:3]
    ['netstat', 'gsksrvr', 'attls']
    """
    package, folder = __name__.rpartition(".")[0], Path(__file__).parent
    names = sorted(module.name for module in pkgutil.iter_modules([str(folder)]) if module.ispkg)
    declared = [import_module(f"{package}.{name}.{name}_family").FAMILIES for name in names]
    return tuple(sorted((family for each in declared for family in each), key=lambda family: family.place))


def families_of(tables: Iterable[str]) -> frozenset[ReportFamily]:
    """Return the families of reports that give rows of these tables.

    >>> sorted(map(str, families_of(["rmf_cpu", "zvm_user"])))
    ['rmf', 'supplied', 'zvm']
    """
    wanted = [report_table(name) for name in tables]
    return frozenset(family for family in families() if any(map(family.has_table, wanted)))


def family_name(report: str) -> str:
    """Return the family of a report, from its name in the inventory.

    >>> family_name("NETSTAT CONN")
    'netstat'
    """
    return report.split(maxsplit=1)[0].lower().replace("/", "").replace("-", "")
