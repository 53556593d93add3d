"""Independent exact answers: rational arithmetic and interval arithmetic, to hold the reference against."""
