"""Run a target again with one recorded random draw changed and all others equal, and compute its privacy loss
exactly.
"""
