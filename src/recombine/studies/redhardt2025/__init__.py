"""Redhardt, Akram, Schug 2025 (arXiv 2507.07207): scale and compositional generalization of plain networks."""
