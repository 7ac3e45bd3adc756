"""Watches whether what the corpus says still holds: today, the freshness of verified pages."""
