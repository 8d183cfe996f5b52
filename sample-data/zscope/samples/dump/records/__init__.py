"""Generators of records, one module for each kind of record."""
