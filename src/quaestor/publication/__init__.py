"""Publishes decided items as tables, findings, report, audit and handbook."""
