"""HTTP: the MCP endpoint, the console's JSON routes, and the browser's sign-in."""
