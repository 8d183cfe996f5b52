"""The commands: each is a module with a function `command`, named after the command."""
