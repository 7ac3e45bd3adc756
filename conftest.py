"""Fixtures for every test of the repository: real servers, and the data sets beside the checkout."""

pytest_plugins = ["servers", "ledgers", "scratch", "houses"]
