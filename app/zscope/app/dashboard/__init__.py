"""The dashboard: Streamlit pages over the store.

`pages/` contains one module or package for each page; `registry` finds them. The modules here are what pages
share: queries with their cache (`page_data`), filters (`filters`, `filter_bar`), charts and tables
(`drawing`, `style`, `labels`, `time_axis`), and what several pages show (`published`, `run_intervals`,
`tags`, `suites`, `table_roles`). `shell` draws the frame around a page, and Streamlit runs
`server/dashboard_main.py`.
"""

from __future__ import annotations
