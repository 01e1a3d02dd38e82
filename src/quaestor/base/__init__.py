"""What every room needs and that knows no room: errors, ids, clock, provenance, registry."""
