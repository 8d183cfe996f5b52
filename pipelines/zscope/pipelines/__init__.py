"""The store, the data validation, and the metrics over stored tables."""
