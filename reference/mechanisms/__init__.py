"""One mechanism per file; `registry.MECHANISMS` is the table of contents."""
