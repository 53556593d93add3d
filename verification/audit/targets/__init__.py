"""The targets of an audit: a Python function, a process in any language, or an adapter for a package."""
