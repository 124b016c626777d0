"""Draft, then verify: one loop for tokens, control inputs and any other unit."""
