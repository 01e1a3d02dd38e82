"""Pages of report, audit and handbook."""
