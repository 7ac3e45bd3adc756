"""What ingest decides, as pure functions."""
