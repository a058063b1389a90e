"""The command line: one module a command, `console` for what they share."""
