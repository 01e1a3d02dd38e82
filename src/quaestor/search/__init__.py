"""Search in the evidence: an index of its words, what somebody wants to find, and what they may see of it."""
