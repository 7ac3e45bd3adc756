"""The four operations of agents: what they take and give, and their door over REST."""
