"""Grid worlds: an expert is imitated."""
