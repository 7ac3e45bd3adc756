"""What every process starts with: settings, logs, traces, health, the bus and the database. It knows no domain."""
