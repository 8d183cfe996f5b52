"""Figures: what a page of the dashboard and a section of the report show, declared once and drawn for both.

A figure names its metric, columns, rows and picture (`figure_declarations`). Its rows are read once
(`figure_rows`). Two modules draw them: `charts` for a screen, `static_pictures` for a file without scripts.
"""
