"""Accounts, invitations, roles, and what each role can do."""
