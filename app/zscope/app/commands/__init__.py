"""The commands: a new one is a module of its name with a `command` in it, and a line here."""

from __future__ import annotations

COMMANDS = {
    "inventory": "List what is in files: kinds of records and reports, how many, from when to when.",
    "ingest": "Load dumps and reports into the store.",
    "loads": "List what was loaded, and take loads out again.",
    "issues": "List what could not be read as it stands, with its place.",
    "sql": "Ask the store in SQL, as DuckDB understands it.",
    "metrics": "List the metrics, or ask one.",
    "benchmark": "Hold measured runs against the published results.",
    "runs": "List benchmark runs, name new ones, find them in the data.",
    "compare": "Compare two benchmark runs, with confidence intervals.",
    "model": "Play through a model of a system, such as a flood of TLS sessions on z/TPF.",
    "check": "Check what is recommended and what is weak, with the evidence.",
    "dashboard": "Show the store in a browser.",
    "validate": "Check the quality of the data in a store: ranges, codes, arithmetic, agreement of sources.",
    "export": "Export tables to Parquet, CSV or one DuckDB file, metrics to Prometheus and OpenTelemetry.",
    "store": "Look after the store: compact, expire, check.",
    "decode": "Print the rows of one table straight from a file.",
    "unpack": "Undo gzip, zip, TERSE, blocks and segments.",
    "fields": "Search the field catalogue by our name, IBM's name or meaning.",
    "generate": "Write synthetic dumps and reports with known answers.",
    "demo": "Load the sample data into a store and show what comes out.",
}
"""Name and one line of help, in the order in which one meets them."""
