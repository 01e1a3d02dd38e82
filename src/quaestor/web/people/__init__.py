"""Pages of accounts, invitations and sign-in."""
