"""This package has examples of targets in other languages, which commands such as `covassay audit --example c`
print."""
