"""The page of this name: `posture_page` draws it, the other modules are its sections and queries."""
