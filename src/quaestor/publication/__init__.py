"""From decided items to what is published: tables, findings, report, audit, handbook."""
