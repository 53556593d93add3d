"""Examples of targets in other languages, which `covassay audit --example c` and the like print."""
