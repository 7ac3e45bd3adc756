"""Benchmarks: each compares two things in one run, on one machine, and says the ratio."""
