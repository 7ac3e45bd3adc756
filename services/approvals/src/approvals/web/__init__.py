"""The pages of reviewers: what waits, exactly the stored bytes, and a decision on their digest. No script is served."""
