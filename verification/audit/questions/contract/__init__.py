"""Questions on what any caller may rely on."""
