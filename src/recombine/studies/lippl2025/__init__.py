"""Lippl, Stachenfeld 2025 (arXiv 2405.16391): what kernel models can compose, and how data mislead them."""
