"""Kim & Linzen 2020, COGS: a compositional generalization challenge based on semantic interpretation."""
