from genie.lib.errors import GenieError
from genie.management import RefusingCommand


class StudyCommand(RefusingCommand):
    refusals = (GenieError, OSError, ValueError)
