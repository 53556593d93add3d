"""This package runs experiments on the figures and theorems of the papers. It also draws pictures of laws and
constants, and writes the numbers of each picture to a table.
"""
