"""Searching players by name: `pimc-20`, `ismcts-500`, `clairvoyant`.

`pimc-20:expert` and `pimc-20:four_point` weigh worlds by the likelihood of what the others did, with `expert`
or a checkpoint.
"""

from __future__ import annotations

import re

from smear_env.agents.base import Agent

PATTERNS = ("pimc-N", "pimc-N:expert", "pimc-N:CHECKPOINT", "ismcts-N", "CHECKPOINT+search-N", "clairvoyant")
"""What the names look like; N is a whole number from 1."""

_NAME = re.compile(r"(pimc|ismcts)(?:-([^:]*))?(?::(.*))?", re.DOTALL)
_MOST = 100_000
_MOST_SEARCHED = 10_000
_MOST_WEIGHED = 1_000
"""With weights: twenty worlds are held for each that is drawn, and eight drawn for a play-out."""


def make_search_agent(name: str) -> Agent | None:
    """The searching player of a name, None if the name is of another kind; ValueError for a number that makes
    no sense.
    """
    if "+search" in name:
        return _policy_search(name)
    if name == "clairvoyant":
        from smear_env.agents.search.clairvoyant import ClairvoyantAgent

        return ClairvoyantAgent()
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    kind, number, checkpoint = found.groups()
    most = _MOST if checkpoint is None else _MOST_WEIGHED
    if not (number and re.fullmatch(r"0*[1-9][0-9]{0,5}", number) and int(number) <= most):
        raise ValueError(
            f"agent {name!r}: after {kind}- comes a whole number of {'worlds' if kind == 'pimc' else 'iterations'} "
            f"from 1 to {most}, as in {kind}-{20 if kind == 'pimc' else 500}"
        )
    if kind == "ismcts":
        if checkpoint is not None:
            raise ValueError(
                f"agent {name!r}: only pimc-N takes a checkpoint after a colon; leave {checkpoint!r} away"
            )
        from smear_env.agents.search.ismcts import IsmctsAgent

        return IsmctsAgent(int(number))
    from smear_env.agents.search.pimc import PimcAgent

    return PimcAgent(int(number), weights=None if checkpoint is None else _policy(name, checkpoint))


def _policy_search(name: str) -> Agent:
    """`CHECKPOINT+search-N`; ValueError naming what is wrong with it."""
    checkpoint, _, number = name.rpartition("+search")
    if not (re.fullmatch(r"-0*[1-9][0-9]{0,5}", number) and int(number[1:]) <= _MOST_SEARCHED):
        raise ValueError(
            f"agent {name!r}: after +search- comes a whole number of worlds from 1 to {_MOST_SEARCHED}, "
            f"as in {checkpoint or 'four_point'}+search-100"
        )
    from smear_env.agents.policy import load_policy
    from smear_env.agents.search.policy_search import PolicySearchAgent

    try:
        policy = load_policy(checkpoint)
    except ValueError as error:
        raise ValueError(
            f"agent {name!r}: before +search comes the policy that is searched with, a checkpoint's folder or "
            f"shipped name: {error}"
        ) from error
    return PolicySearchAgent(policy, int(number[1:]))


def _policy(name: str, checkpoint: str) -> Agent:
    """`expert`, or the policy of a checkpoint; ValueError naming the agent if there is none."""
    from smear_env.agents.expert import ExpertAgent
    from smear_env.agents.policy import load_policy

    if checkpoint == "expert":
        return ExpertAgent()
    try:
        return load_policy(checkpoint)
    except ValueError as error:
        raise ValueError(
            f"agent {name!r}: after the colon comes the policy that weighs worlds, expert or a checkpoint: {error}"
        ) from error
