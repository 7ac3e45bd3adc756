"""From a request to a decision to a reply."""
