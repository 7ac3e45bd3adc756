"""The way in: who belongs and may see what, tokens and sign-ins, MCP for agents and JSON routes for the console."""
