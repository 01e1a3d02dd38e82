"""Synthetic evidence with planted, known answers, in the formats of real evidence."""
