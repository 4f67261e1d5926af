"""Sequences of words: commands, expressions and sentences with the sequence that each of them means."""
