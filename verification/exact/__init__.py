"""Exact answers by rational or interval arithmetic, found independently of the reference and compared with it."""
