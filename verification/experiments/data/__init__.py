"""This package provides the data sets of the experiments. They are drawn at random, taken from scikit-learn, or read
from files of the user. Nothing is downloaded.
"""
