"""Ingest takes source material in: what it refuses, what it keeps as a capture, the pages that an import proposes."""
