"""The command line and the dashboard."""
