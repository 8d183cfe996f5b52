"""Reports about the systems, times and connections of a synthetic dump, in the usual file formats."""

from __future__ import annotations

from zscope.samples.reports.files import ReportFile, report_files

__all__ = ["ReportFile", "report_files"]
