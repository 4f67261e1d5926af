"""Hupkes et al. 2020, Compositionality decomposed: PCFG SET and its five tests."""
