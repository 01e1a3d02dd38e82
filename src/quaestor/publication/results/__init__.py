"""Tables, figures and findings computed from decided items."""
