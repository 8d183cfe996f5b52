"""The page of this name: `workbench_page` draws it, the other modules are its sections and queries."""
