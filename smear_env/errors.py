"""Errors of the environments that callers may want to catch by type."""

from __future__ import annotations


class IllegalActionError(ValueError):
    """An action that is not legal for the seat to act; the environment's state is unchanged.

    The message names the seat, the action and the legal set.
    """
