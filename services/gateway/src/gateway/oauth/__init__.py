"""The authorization server: applications, consent, and the tokens that follow from it."""
