"""Measurements of speed and memory, each a command run from a checkout: `python -m benchmarks.throughput`.

Nothing here is asserted and nothing is shipped: a missed target is printed as missed.
"""
