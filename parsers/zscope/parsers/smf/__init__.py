"""SMF dumps: from bytes to records, from records to columns, and back."""
