"""Code that the command line and the dashboard both use."""
