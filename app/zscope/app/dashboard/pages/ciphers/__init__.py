"""The page of this name: `ciphers_page` draws it, the other modules are its sections and queries."""
