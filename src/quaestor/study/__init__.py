"""A study folder, its settings, and the interfaces through which features contribute to it."""
