"""What is published: it gets values and draws them, and computes no statistic."""
