"""Storage: the append-only journal of acts, its backups and migrations, and private files that support erasure."""
