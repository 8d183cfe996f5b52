"""Synthetic data of other systems: MQ channels, a z/VM link, and session floods on z/TPF.

The values follow `plan.toml` and are written into the kinds of files that users have: records, formatter
output, listings, chart exports and tables.
"""
