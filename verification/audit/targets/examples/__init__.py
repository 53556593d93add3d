"""Whole targets in other languages, which answer the requests of `process_target`: `covassay audit --example c`."""
