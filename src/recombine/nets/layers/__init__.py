"""Layers: parts that several nets share."""
