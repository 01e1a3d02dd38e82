"""Evidence in: one module a source; an adapter opens its input read-only and imports no other adapter."""
