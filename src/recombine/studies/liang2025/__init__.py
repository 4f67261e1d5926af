"""Liang, Qian, Ziyin, Fiete 2025 (arXiv 2501.18797): why factorized inputs are not enough, and two cures."""
