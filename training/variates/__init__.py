"""Control variates: terms of mean zero that take chance out of a comparison; its interval shrinks without bias.

The draw from the stock is the chance of a deal that exchanging seats cancels least. Its order is uniform and
independent of everything said and thrown before anybody has seen a card of it, by agents that see observations alone.
So for any value function `v`, frozen before the data, `v(hands after the draw) - E[v | hands and auction]` has mean
exactly 0. A good `v` makes it vary as the score does, and the difference varies less. The idea is that of AIVAT (Burch,
Schmid, Moravcik, Morrill and Bowling, 2018): values along the game, not of the dealt hands alone.

    python -m training.variates --rules four_point --agents greedy four_point       # fit and freeze
    python -m training.evaluate --agent greedy --against four_point --variates benchmarks/variates/four_point
"""
