"""Read text reports: captured displays, listings, XML, CSV and JSON become the same kind of tables as SMF
records.
"""
