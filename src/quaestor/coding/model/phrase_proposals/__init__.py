"""Verb and object of a question, proposed from its title for a rater to accept or mend."""
