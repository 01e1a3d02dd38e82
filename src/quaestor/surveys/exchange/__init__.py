"""Import and export of survey answers."""
