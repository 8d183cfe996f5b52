"""Workload Activity reports, as listings and in XML."""
