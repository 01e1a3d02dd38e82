"""Transcripts: import, speakers, matched questions, corrections."""
