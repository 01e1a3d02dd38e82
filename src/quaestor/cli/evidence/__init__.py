"""Commands of evidence and funnel."""
