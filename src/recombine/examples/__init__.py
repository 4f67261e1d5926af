"""Example tables that the package ships, so that every command can be tried at once."""

from .example_tables import example as example
