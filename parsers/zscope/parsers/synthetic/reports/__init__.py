"""Reports about the systems, times and connections of a synthetic dump, in the forms people keep them in."""

from __future__ import annotations

from zscope.parsers.synthetic.reports.files import ReportFile, report_files

__all__ = ["ReportFile", "report_files"]
