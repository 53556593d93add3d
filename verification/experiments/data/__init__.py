"""This package provides the data sets of the experiments, which are random, from scikit-learn, or from files of the
user. Nothing is downloaded.
"""
