"""Contents of the survey pages at the desk; imported by web only."""
