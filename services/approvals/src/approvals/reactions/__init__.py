"""What approvals does when others' work follows from its own facts."""
