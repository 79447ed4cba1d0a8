"""Accounts: sign-up, sign-in, and the tokens of people's programs."""
