"""Draw docs/table.png, the README's picture: a deal of `four_point` in its third trick, from the real environment.

python docs/table_picture.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

import smear_env

PICTURE = Path(__file__).resolve().parent / "table.png"
SEED = 7
TRICKS = 2
CARDS_ON_TABLE = 3


def main() -> None:
    """Play a match by `greedy` until the wanted moment and save what `render` shows."""
    env = smear_env.raw_env(rules="four_point", render_mode="rgb_array")
    env.reset(seed=SEED)
    layout = smear_env.observation_layout(smear_env.make_rules("four_point"))
    players = {name: smear_env.make_agent("greedy") for name in env.possible_agents}
    for seat, name in enumerate(env.possible_agents):
        players[name].reset(smear_env.make_rules("four_point"), seat, SEED)
    for name in env.agent_iter():
        seen = env.observe(name)
        vector = seen["observation"]
        if (
            vector[layout["tricks_done"].slice][0] == TRICKS
            and vector[layout["trick"].slice].sum() == CARDS_ON_TABLE
        ):
            break
        env.step(int(players[name].act(vector, seen["action_mask"])))
    picture = env.render()
    # 256 colours are enough for felt and cards, and a third of the size.
    Image.fromarray(np.asarray(picture)).quantize(256, dither=Image.Dither.NONE).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
