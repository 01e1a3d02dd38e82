"""Questionnaires: definition, checks, flow and answers."""
