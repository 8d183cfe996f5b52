"""Tables that people supply as CSV or JSON: declared with all others, read by one reader."""
