"""The page of this name: `benchmark_page` draws it, the other modules are its sections and queries."""
