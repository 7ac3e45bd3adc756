"""`make conformance`: the protocol's official suite against the dispatcher, and against a whole gateway."""
