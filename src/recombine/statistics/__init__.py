"""Statistics that everything may use; no jax here."""
