"""The experiment that measures what TLS alone costs: test connections in random quarter hours of a day."""
