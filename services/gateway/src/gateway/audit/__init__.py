"""What was asked of this service, by whom and with which outcome: ids, hashes, counts and instants, never content."""
