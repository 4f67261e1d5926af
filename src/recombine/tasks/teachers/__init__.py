"""Teachers: modules of a network, combined."""
