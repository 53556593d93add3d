"""What no single mechanism owns: the profile of an audit, families of laws, data paths, pairs that serve any target."""
