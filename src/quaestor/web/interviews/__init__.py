"""Pages of interviews for participants, interviewers, raters and leads."""
