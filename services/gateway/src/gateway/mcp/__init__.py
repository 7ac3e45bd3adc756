"""The Model Context Protocol over one HTTP endpoint: JSON only, stateless, every revision from 2025-03-26 on."""
