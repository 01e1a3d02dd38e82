"""Accounts, invitations and roles, with the permissions of each role."""
