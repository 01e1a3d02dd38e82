"""What the desk shows of surveys; imported by web alone."""
