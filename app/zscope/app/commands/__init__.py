"""The commands: a new one is a module of its name with a `command` in it, and a line here."""

from __future__ import annotations

COMMANDS = {
    "inventory": "List what is in files: kinds of records and reports, how many, from when to when.",
    "decode": "Print the rows of one table straight from a file.",
    "unpack": "Undo gzip, zip, TERSE, blocks and segments.",
    "fields": "Search the field catalogue by our name, IBM's name or meaning.",
    "generate": "Write synthetic dumps and reports with known answers.",
    "demo": "Show what zscope makes of the sample data.",
}
"""Name and one line of help, in the order in which one meets them."""
