"""A language model small enough to train in seconds, and speculative decoding with it."""
