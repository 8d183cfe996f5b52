"""Iceberg tables of a store: metadata about the committed Parquet files, in a folder of its own.

The data is not written again. Each table has a snapshot for each commit that changes it. Everything follows
from the commits, so the folder can be deleted and published again at any time.
"""
