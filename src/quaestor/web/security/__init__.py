"""Access, permissions, headers, limits and forms."""
