"""What the desk shows of codebook, rounds, agreement and disagreements; imported by web alone."""
