import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from genie.lib.env import ConfigurationError

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_OPTIONS = {"region": "region_name", "addressing": "addressing_style"}
_ADDRESSING = ("auto", "path", "virtual")
# A larger object is read through a file on disk instead of through memory.
_MAX_MEMORY_BYTES = 8 << 20
# The validity of a download link, in seconds.
_LINK_SECONDS = 60


def media_storage(address: str) -> dict[str, Any]:
    """Return Django's ``STORAGES`` entry for uploads at an address.

    Parameters
    ----------
    address : str
        Empty: files below ``MEDIA_ROOT``. ``s3://bucket/prefix``: objects in a private
        bucket, with ``?region=...`` and ``&addressing=path`` if needed. Keys and
        endpoint come from AWS's own variables or the machine's role, so that the
        address holds no secret. Other kinds raise ConfigurationError.
    """
    if not address:
        return {"BACKEND": "django.core.files.storage.FileSystemStorage"}
    parts = urlsplit(address)
    if parts.scheme != "s3" or not _BUCKET.fullmatch(parts.netloc):
        raise ConfigurationError(
            "GENIE_STORAGE must be empty or s3://bucket/prefix; keys and endpoint "
            "belong in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and "
            "AWS_ENDPOINT_URL_S3."
        )
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": parts.netloc,
            "location": parts.path.strip("/"),
            # private whatever the bucket's own rule, and never overwritten
            "default_acl": None,
            "querystring_auth": True,
            "querystring_expire": _LINK_SECONDS,
            "signature_version": "s3v4",
            "file_overwrite": False,
            "max_memory_size": _MAX_MEMORY_BYTES,
            **_options(parts.query),
        },
    }


def _options(query: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in _OPTIONS or not value:
            raise ConfigurationError(
                f"GENIE_STORAGE takes {' and '.join(_OPTIONS)} after the question "
                f"mark, not {name!r}."
            )
        options[_OPTIONS[name]] = value
    if options.get("addressing_style", "auto") not in _ADDRESSING:
        raise ConfigurationError(
            f"GENIE_STORAGE: addressing must be one of {', '.join(_ADDRESSING)}."
        )
    return options
