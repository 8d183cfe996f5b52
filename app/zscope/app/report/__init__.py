"""A report: what a store says about TLS, as one HTML file that needs nothing else.

`sections.toml` declares what it shows. The modules read the declarations (`section_declarations`), run the
queries (`report_rows`), and build the page (`report_page`, with `report_tables` and `pictures`) as a tree of
`elements`, so that every text of the data is escaped.
"""
