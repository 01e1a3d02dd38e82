"""Conducting an interview: clock, notes, ticks and the protocol."""
