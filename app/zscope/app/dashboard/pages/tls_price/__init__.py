"""The page of this name: `tls_price_page` draws it, the other modules are its sections and queries."""
