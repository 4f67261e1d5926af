"""Tests of studies: a package, so that a test may be called as one of the house is."""
