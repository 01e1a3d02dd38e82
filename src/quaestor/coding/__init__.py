"""Codebook, rounds, ratings, disagreements and decisions."""
