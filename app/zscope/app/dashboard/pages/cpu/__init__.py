"""The page of this name: `cpu_page` draws it, the other modules are its sections and queries."""
