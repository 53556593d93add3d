"""This package computes reference values by rational or interval arithmetic, independently of the reference."""
