"""The desk and the public pages, over `study`; pages add no logic."""
