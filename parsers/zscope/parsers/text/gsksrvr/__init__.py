"""Displays of GSKSRVR, the started task of System SSL: session caches and available cryptography."""
