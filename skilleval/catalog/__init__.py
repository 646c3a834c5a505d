"""Reads what is evaluated and what it is evaluated on: skills, benchmarks and task files."""
