"""Times in Arabic, where Django says only how a day is written."""

DATETIME_FORMAT = "j F، Y، H:i"
TIME_FORMAT = "H:i"
