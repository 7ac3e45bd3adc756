"""How often anybody may ask, and what was asked: one call of the database takes the permit and writes the meter."""
