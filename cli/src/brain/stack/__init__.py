"""The embedded stack: PostgreSQL and NATS as child processes beside the six services, on one machine."""
