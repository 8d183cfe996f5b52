"""Commands and dashboard: what people touch."""
