"""The page of this name: `cpu_per_transaction_page` draws it, the others are its sections and queries."""
