"""Texts of macros of z/OS: IFASMFCN, with the names of crypto counters."""
