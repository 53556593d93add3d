"""This package contains the JSON Schema of a report."""
