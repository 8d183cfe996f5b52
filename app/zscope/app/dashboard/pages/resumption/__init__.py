"""The page of this name: `resumption_page` draws it, the other modules are its sections and queries."""
