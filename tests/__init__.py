"""This package has the tests, and the broken implementations that the audit must refute."""
