"""Self-play training and evaluation on torch; uses the public names of `smear_env` only."""
