"""Unpack gzip, zip and AMATERSE in any order; the packing is detected from the content."""
