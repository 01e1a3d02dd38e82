"""Codebook, rounds, ratings, decisions and phrases as values and rules: no files, no clock, no database."""
