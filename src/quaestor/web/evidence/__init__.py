"""Pages of the funnel."""
