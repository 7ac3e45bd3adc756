"""What is worked out without any I/O: page bytes to rows, queries to words, dates to trust."""
