"""The only room where stages meet: a study folder, its settings, and one use case a module."""
