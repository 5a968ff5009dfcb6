"""Rule options as command lines and configurations give them: NAME=VALUE, or NAME=A,B for several values."""

from __future__ import annotations

from typing import Any, get_type_hints

from smear_env import Rules, preset_of


def parse_options(preset: str, options: tuple[str, ...]) -> dict[str, Any]:
    """Rule options from NAME=VALUE texts, one value each; ValueError names the option."""
    values = option_values(preset_of(preset), options)
    for name, several in values.items():
        if len(several) > 1:
            raise ValueError(f"options: {name} is given {len(several)} values, expected one")
    return {name: several[0] for name, several in values.items()}


def option_values(preset: Rules, options: tuple[str, ...]) -> dict[str, list[Any]]:
    """The values of each option in NAME=A,B texts; ValueError names the option."""
    values: dict[str, list[Any]] = {}
    for option in options:
        name, equals, text = option.partition("=")
        if not equals or not text:
            raise ValueError(f"options: {option!r} is not NAME=VALUE")
        if name in values:
            raise ValueError(f"options: {name} is given twice; several values are NAME=A,B")
        values[name] = [_parse_option(preset, name, one) for one in text.split(",")]
    return values


def _parse_option(preset: Rules, name: str, text: str) -> Any:
    if name not in get_type_hints(Rules) or name == "name":
        known = ", ".join(sorted(one for one in get_type_hints(Rules) if one != "name"))
        raise ValueError(f"options: {preset.name} has no option {name!r}; there are {known}")
    current = getattr(preset, name)
    if isinstance(current, bool):
        if text.lower() not in ("true", "false"):
            raise ValueError(f"options: {name}={text!r} must be true or false")
        return text.lower() == "true"
    if isinstance(current, int):
        try:
            return int(text)
        except ValueError:
            raise ValueError(f"options: {name}={text!r} must be a whole number") from None
    return text
