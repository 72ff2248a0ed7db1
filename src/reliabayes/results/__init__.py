"""What draws say: quantities, summaries, checks, comparisons, and fits on disk."""
