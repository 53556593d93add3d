"""For each mechanism of the reference: the data sets, exact laws and neighbouring pairs that an audit uses."""
