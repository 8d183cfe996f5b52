"""Texts of ICSF: listings of SMF 82 records by its formatter CSFSMFR."""
