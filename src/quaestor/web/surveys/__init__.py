"""Pages of surveys for respondents, leads and payers."""
