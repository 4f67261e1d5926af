"""Dziri et al. 2023, Faith and Fate: do nets match pieces of computations that they saw, and do errors compound?"""
