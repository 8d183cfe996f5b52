"""Readers of everything zscope knows, from files to Arrow tables and issues."""
