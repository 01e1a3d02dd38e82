"""Texts of the respondents' pages, one TOML file per language."""
