"""Bundled studies from their public replication data."""
