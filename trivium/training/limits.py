"""What numbers of a training make sense."""

from __future__ import annotations

from trivium.errors import ConfigurationError


def check_least(settings: object, **least: int) -> None:
    """Raise ConfigurationError unless each named number of the settings is as large as given."""
    low = [f"{name} of {n} or more" for name, n in least.items() if getattr(settings, name) < n]
    if low:
        raise ConfigurationError(f"training needs {', '.join(low)}")
