"""A report: what a store says about TLS, as one HTML file that needs nothing else.

`sections.toml` lists the figures of each section (`report_sections`), `zscope.app.figures` reads and draws
them. `report_page` and `report_tables` build the page as a tree of elements, so that every text of the data
is escaped.
"""
