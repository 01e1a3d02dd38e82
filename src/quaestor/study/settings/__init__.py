"""The schema of study.toml."""
