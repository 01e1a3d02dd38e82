"""Interview results: quotations, themes, co-occurrence, saturation, tables and figures."""
