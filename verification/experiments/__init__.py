"""This package runs experiments on the figures and theorems of the papers, and draws pictures of laws and constants
with their numbers.
"""
