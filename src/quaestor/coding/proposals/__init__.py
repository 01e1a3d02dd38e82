"""Verb and object of a question, proposed from its title for a rater to accept or mend."""

from quaestor.coding.proposals.propose import Proposal, first_verb, propose

__all__ = ["Proposal", "first_verb", "propose"]
