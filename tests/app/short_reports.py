"""Reports with a few sections, for tests of when and where a report is written.

The whole report computes most metrics, which takes seconds; its tests are in `tests/app/cli/report`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.app.report import report_page
from zscope.app.report.report_sections import report_sections

if TYPE_CHECKING:
    import pytest


def shorten_report(
    patch: pytest.MonkeyPatch, *sections: str, statements: bool = False, compared: bool = False
) -> None:
    """Write reports with these sections only, without what they begin with, or with its statements alone.

    Unless they are `compared`, they do not keep what a later report compares: statements and findings.
    """
    short = tuple(each for each in report_sections() if each.id in sections)
    assert len(short) == len({*sections})
    patch.setattr(report_page, "report_sections", lambda: short)
    patch.setattr(report_page, "glance_figures", lambda: ())
    if not statements:
        patch.setattr(report_page, "_sentences", lambda *_: [])
    if not compared:
        patch.setattr(report_page, "_kept", lambda *_: [])
