"""Speed, as ratios."""
