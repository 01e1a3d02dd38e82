"""Interviews: the guide, its checking, and what a conversation and its transcript consist of."""
