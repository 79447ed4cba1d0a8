"""The header under which a program may repeat a request."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description=(
        "Your own identifier for this request, such as a UUID. Repeating the "
        "request with the same key and content within seven days returns what it "
        "made then, with `Idempotent-Replayed: true`."
    ),
)
