import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "genie.settings")
application = get_wsgi_application()
# Views are imported before the first visitor, who would otherwise wait seconds.
_ = get_resolver().url_patterns
# Made before a server forks, so that two processes never make two.
str(settings.SECRET_KEY)
