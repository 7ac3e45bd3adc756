"""What is answered: each read under one caller's sight, at or after the fence."""
