"""The command line: the program, its commands, and what they share."""
