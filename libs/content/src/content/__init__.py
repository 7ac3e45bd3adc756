"""The content store: every immutable body of a brain, encrypted, behind one write path that refuses secrets."""
