"""What the apps' admin pages share: lists that stay quick, pages that ask for a reason."""
