"""This package has the tests, and broken implementations that the audit must refute."""
