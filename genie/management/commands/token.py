"""Make a token for an account from the shell; it is printed once."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model

from genie.accounts import tokens
from genie.accounts.models import AccessToken
from genie.management import RefusingCommand, find_row


class Command(RefusingCommand):
    help = "Create an API token for an account and print it once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument(
            "--name", default="from the shell", help="name of the token"
        )
        parser.add_argument(
            "--scope",
            action="append",
            choices=AccessToken.Scope.values,
            help="scope; may be repeated (default: read and submit)",
        )
        expiry = parser.add_mutually_exclusive_group()
        expiry.add_argument(
            "--days",
            type=int,
            default=tokens.DEFAULT_DAYS,
            help="days until it expires (default: %(default)s)",
        )
        expiry.add_argument(
            "--no-expiry",
            dest="days",
            action="store_const",
            const=None,
            help="create a token that never expires",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        users = get_user_model().objects.all()
        user = find_row(users, "account", username=options["username"])
        _, secret = tokens.issue(
            user,
            name=options["name"],
            scopes=options["scope"] or ["read", "submit"],
            days=options["days"],
        )
        self.stdout.write(secret)
