"""Accounts: how people sign up and in, and the tokens with which their programs do."""
