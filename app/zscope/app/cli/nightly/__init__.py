"""The nightly batch: its settings, its steps, and the report of a night."""
