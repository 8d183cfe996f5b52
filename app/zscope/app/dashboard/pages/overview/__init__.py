"""The page of this name: `overview_page` draws it, the other modules are its sections and queries."""
