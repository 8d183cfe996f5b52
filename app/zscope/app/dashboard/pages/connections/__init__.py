"""The page of this name: `connections_page` draws it, the other modules are its sections and queries."""
