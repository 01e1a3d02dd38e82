"""Words for κ, as Landis and Koch (1977) gave them."""

from __future__ import annotations

_UP_TO = ((0.20, "slight"), (0.40, "fair"), (0.60, "moderate"), (0.80, "substantial"))


def band(kappa: float | None) -> str:
    """The word for a κ, read at two decimals as in their table; nothing for an undefined one."""
    if kappa is None:
        return ""
    if kappa < 0:
        return "poor"
    return next((name for limit, name in _UP_TO if round(kappa, 2) <= limit), "almost perfect")
