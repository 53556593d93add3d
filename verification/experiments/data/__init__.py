"""Data sets of the experiments: random, from scikit-learn, or from files of the user. Nothing is downloaded."""
