"""Experiments on the figures and theorems of the papers, and pictures of laws and constants with their numbers."""
