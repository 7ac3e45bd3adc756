"""The public vocabulary: facts, commands, queries, refusals, subjects and topology. It knows msgspec alone."""
