"""The JSON Schema of a report, as package data."""
