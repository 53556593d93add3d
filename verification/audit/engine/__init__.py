"""What the questions of the audit are made of: draws, data sets, pairs of neighbours, tests of a law or of an event."""
