"""Participants: consent, contact data, withdrawal."""
