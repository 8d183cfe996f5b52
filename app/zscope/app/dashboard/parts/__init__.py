"""Sections of pages that are long enough for a module of their own."""

from __future__ import annotations
