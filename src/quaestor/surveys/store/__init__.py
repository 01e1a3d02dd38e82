"""The private files of surveys: answers, invitations, claims."""
