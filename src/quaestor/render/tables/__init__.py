"""One table, five formats: each shows the same numbers, and where it can, opens the items behind them."""
