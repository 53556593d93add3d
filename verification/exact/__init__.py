"""Reference values by rational or interval arithmetic, computed independently of the reference and compared with it."""
