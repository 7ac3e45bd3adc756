"""What the embedder does when others say something."""
