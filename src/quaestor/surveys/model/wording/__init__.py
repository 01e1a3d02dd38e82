"""What pages for respondents say by themselves, in the languages they speak: one TOML file each."""
