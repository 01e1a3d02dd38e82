"""Pages of codebook, rounds, rating, agreement and disagreements."""
