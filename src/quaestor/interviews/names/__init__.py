"""Names in transcripts: found, confirmed, replaced, masked, and checked before anything is published."""
