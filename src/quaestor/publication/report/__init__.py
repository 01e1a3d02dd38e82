"""The report: one page a person enjoys reading, with its tables, figures and items beside it."""
