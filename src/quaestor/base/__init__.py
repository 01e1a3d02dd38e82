"""Shared helpers that depend on no other package: errors, clock, files, hashes, names, tables and TOML."""
