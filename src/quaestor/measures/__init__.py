"""Statistics without side effects, including interrater agreement: no files, no clock, seeds passed in."""
