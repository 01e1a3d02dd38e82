"""The report: a web page with its tables, figures and items."""
