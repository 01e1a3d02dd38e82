"""Surveys of a study, from the questionnaire file to answers, payment and results; one use case per module."""
