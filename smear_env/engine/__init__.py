"""The rules as kernels over one record per match, driven by tables compiled from `Rules`.

`tables` and `state` hold data; `deal`, `legal`, `step` and `scoring` hold one concern of the rules each;
`batch` runs many matches and holds no rule. No module here knows a game by name.
"""
