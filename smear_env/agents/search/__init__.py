"""Players that search: worlds drawn from what a seat has seen, play-outs, the solver."""
