"""Human acts at rest: the append-only journal and its migrations."""
