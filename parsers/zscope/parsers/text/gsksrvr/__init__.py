"""Replies of GSKSRVR, the started task of System SSL: its session caches and the cryptography it can use."""
