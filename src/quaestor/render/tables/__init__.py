"""Writes a table in five formats with the same numbers, linked to the items behind them where the format allows."""
