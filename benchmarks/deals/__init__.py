"""The fixed deals that evaluations share, `NAME.npy` and `NAME.json` beside this file, and what makes them.

`NAME.npy` is int8 [deals, 1 + cards]: dealer, then the order of the cards as `SelfPlayVectorEnv.reset(deals=)` takes
it. `NAME.json` says what they are and the SHA-256 of each file; further columns stand in files of their own, so that
a column that is added leaves the deals and their hash as they are. `training.evaluation.deals` reads them.
"""
