"""The page of this name: `quality_page` draws it, the other modules are its sections and queries."""
