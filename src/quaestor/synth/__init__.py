"""Synthetic evidence with planted, known answers, in the shapes that real evidence comes in."""
