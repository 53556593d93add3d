"""This package contains the tests, and broken implementations that the audit must refute."""
