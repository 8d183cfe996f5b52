"""From tables to answers: the store, its checks and the metrics over it."""
