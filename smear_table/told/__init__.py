"""A position as a person writes it down.

Whoever asks for advice knows a hand, what was said, and the cards that fell: `words` is that, `reading` makes of it
what the engine would show, and `fallen` is the play, from which it follows who took what and who has shown a void.
"""
