"""The contrast of two colours as the WCAG defines it."""

from __future__ import annotations

import re

Colour = tuple[float, float, float, float]
"""Red, green and blue from 0 to 255, and how opaque it is."""


def colour_of(text: str) -> Colour:
    """Return a colour written as #rrggbb, rgb(...) or rgba(...)."""
    if text.startswith("#"):
        return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16), 1.0
    numbers = [float(number) for number in re.findall(r"[0-9.]+", text)]
    red, green, blue, opaque = [*numbers, 1.0][:4]
    return red, green, blue, opaque


def contrast(colour: Colour, background: Colour) -> float:
    """Return the contrast of a colour on an opaque background: 1 is none, 21 is black on white."""
    opaque = colour[3]
    mixed = [
        opaque * one + (1 - opaque) * other for one, other in zip(colour[:3], background[:3], strict=True)
    ]
    light, dark = sorted((_luminance(mixed), _luminance(background[:3])), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(rgb: list[float] | tuple[float, ...]) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
        for part in (channel / 255 for channel in rgb)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
