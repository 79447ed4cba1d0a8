from django.http import HttpResponse

from crowd.requester.pages import origin
from crowd.requester.questions.questions import Question
from genie.lib.serving.security import POLICY


def admit(response: HttpResponse, question: Question) -> HttpResponse:
    if question.kind == "external":
        policy = POLICY.replace("frame-src 'self'", "frame-src 'self' https:")
    elif question.kind == "form":
        policy = POLICY.replace("img-src 'self' data:", "img-src 'self' data: https:")
    else:
        policy = POLICY
    response["Content-Security-Policy"] = origin.frames(policy)
    return response
