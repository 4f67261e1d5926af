"""The driver: computes the cells of a study that have no record yet."""
