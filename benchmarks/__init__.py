"""Measurements of speed, run from a checkout: `python -m benchmarks.throughput`, `.latency` and `.startup`.

Nothing here is asserted and nothing is shipped: a missed target is printed as missed.
"""
