"""A table to sit down at: both games and their relatives, with people and agents in any seats.

What is the same on every screen stands here. From the inside out: `session` is one match as its setup and its actions,
`view` what one seat may see of it, `words` how that is said, `advice`, `review` and `replay` what can be said about it,
`store` the file that matches live in. `web` serves it to browsers, `terminal` shows it where there is none.
"""
