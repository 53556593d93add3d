"""Code that the knowledge of several mechanisms shares, such as families of laws and neighbouring data sets."""
