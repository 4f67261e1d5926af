"""The lab: what runs a study. Cells, engines, store, verdicts."""
