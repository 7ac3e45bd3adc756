"""What is true of proposals, builds and pages, and what may happen next. Pure: no clock, no I/O."""
