"""Who sees what: the one rule, once as a pure function and once in SQL, and the projection that both stand on."""
