"""HTML of evidence, code, transcripts and questionnaires: sanitised and laid out."""
