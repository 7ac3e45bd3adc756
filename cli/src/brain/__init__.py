"""The command `brain`: starts and stops the embedded stack, and does at a console what people do."""

VERSION = "0.1.0"
"""The release, as `brain --version` prints it."""
