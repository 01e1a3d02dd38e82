"""Pages of the running demo."""
