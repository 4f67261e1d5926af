"""Charts: what a picture shows, as data, and how it is drawn. Imports neither jax nor a study."""
