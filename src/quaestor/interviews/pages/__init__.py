"""What the desk shows of interviews; imported by web alone."""
