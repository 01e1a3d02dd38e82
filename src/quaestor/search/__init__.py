"""Full-text search over items, filtered by funnel step, round, code and disagreement."""
