"""The mechanics of the ledger: append with expectation, project, archive, guard. It knows no names of facts."""
