"""Surveys of a study: from the questionnaire file to answers, pay and results; one use case a module."""
