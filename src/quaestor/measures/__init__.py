"""Pure statistics, agreement among them: no files, no clock, seeds passed in."""
