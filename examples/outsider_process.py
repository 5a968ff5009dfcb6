"""A player in a process of its own, in any language: JSON lines on standard input and output.

python -m training.evaluate --agent "process:python examples/outsider_process.py" --against passer --deals fixed
"""

from __future__ import annotations

import json
import random
import sys


def main() -> None:
    """Answer `start` and `act`; a `deal` is only told."""
    chance = random.Random(0)
    asked = False
    for line in sys.stdin:
        asked = True
        message = json.loads(line)
        if message["type"] == "start":
            answer = {"ready": True}
        elif message["type"] == "deal":
            chance.seed(message["seed"])
            continue
        else:
            # "view" tells in words what the seat knows: hand, bids, tricks, trump ...
            held = [card for card in message["legal"] if card in message["view"]["hand"]]
            answer = {"action": chance.choice(held or message["legal"])}
        print(json.dumps(answer), flush=True)
    if not asked:
        print("nobody asked; this is a player for `python -m training.evaluate`")


if __name__ == "__main__":
    main()
