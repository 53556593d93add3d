"""Side by side with other auditors: the same pairs of data sets, the same number of draws, the same level."""
