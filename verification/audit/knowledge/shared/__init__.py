"""This package has code that several files of `knowledge` share, such as families of laws and neighbouring data
sets."""
