"""The benchmark for the command line and the dashboard: the arithmetic of a verdict, its check, its wording.

The metrics `benchmark` and `benchmark_arithmetic` contain the numbers. This package reads the arithmetic of
one published result, compares it with the verdict, and splits it into tables that people read.
"""
