"""Wrappers: nets around other nets."""
