"""What is audited: a Python function, a process in any language, or an adapter for a package."""
