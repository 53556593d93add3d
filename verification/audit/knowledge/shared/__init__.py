"""Code that mechanisms share: the profile of an audit, families of laws, data paths, and pairs for any target."""
