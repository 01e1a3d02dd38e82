"""Commands of codebook, rounds, ratings, agreement and decisions."""
