import io

from leaderboard.submissions.readers import PredictionFile, read_predictions

IDS = ("q1", "q2", "q3")


def hand_in(
    data: str | bytes, name: str = "predictions.json", **more
) -> PredictionFile:
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    settings = {
        "instance_ids": IDS,
        "max_bytes": 1 << 20,
        "max_chars_per_prediction": 1_000,
        **more,
    }
    return read_predictions(io.BytesIO(data), filename=name, **settings)


def codes(data: str | bytes, name: str = "predictions.json", **more) -> list[str]:
    return [problem.code for problem in hand_in(data, name, **more).problems]


def only(data: str | bytes, name: str = "predictions.json", **more):
    [problem] = hand_in(data, name, **more).problems
    return problem
