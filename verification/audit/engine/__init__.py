"""The parts of the audit's questions: draws, data sets, pairs of neighbours, and tests of a law or of an event."""
