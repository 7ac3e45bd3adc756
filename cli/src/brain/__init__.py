"""The command `brain`: starts and stops the embedded stack, and does at a console what people do."""
