"""Questionnaires and interview guides: definition, checking, answers."""
