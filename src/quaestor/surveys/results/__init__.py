"""Survey results: columns, counts, tests, tables, figures and sentences."""
