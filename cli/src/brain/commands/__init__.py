"""One module a command or group of commands; each is imported only when it is called."""
