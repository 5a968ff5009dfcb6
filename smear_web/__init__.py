"""A table to sit down at, in the browser: both games and their relatives, with people and agents in any seats.

`python -m smear_web` serves it on this machine. From the inside out: `session` is one match as its setup and its
actions, `view` what one seat may see of it, `advice`, `review` and `replay` what can be said about it, `store` the file
that outlives the server, `tables` the matches in play, `app` the pages and the socket. It needs the extra `web`.
"""
