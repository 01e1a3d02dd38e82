"""Commands of report, audit, replication and handbook."""
