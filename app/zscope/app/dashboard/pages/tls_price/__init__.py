"""The page of this name: `page.py` draws it, the other modules are its sections and queries."""
