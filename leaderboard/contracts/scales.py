import pytest

from crowd.scales.base import Scale
from genie.lib.errors import GenieError

NO_NUMBERS = [
    "", " ", "nan", "inf", "-inf", "1e0", "1_0", "٣", "0,5", "0.5;", "yes", "\x00", "9" * 400,
]  # fmt: skip


def refused(scale: type[Scale], raw: str) -> bool:
    with pytest.raises(GenieError) as caught:
        scale.parse(raw)
    return caught.value.code == "not-on-the-scale"


class ScaleContract:
    def test_every_option_can_be_sent_and_comes_back_as_its_value(
        self, scale: type[Scale]
    ) -> None:
        for option in scale.options:
            assert scale.parse(option.raw) == option.value
            assert option.sent or scale.parse(str(option.value)) == option.value
            assert scale.parse(f" {option.raw} ") == option.value

    def test_options_have_their_own_keys_labels_and_values(
        self, scale: type[Scale]
    ) -> None:
        n = len(scale.options)
        for part in ("key", "label", "value"):
            assert len({getattr(option, part) for option in scale.options}) == n

    def test_labels_of_a_language_are_one_for_each_option(
        self, scale: type[Scale]
    ) -> None:
        for labels in scale.labels.values():
            # points between two labeled ones have no words
            said = [label for label in labels if label]
            assert len({*said}) == len(said)
            assert len(labels) == len(scale.options or scale.ticks or scale.ends)

    def test_the_threshold_parts_the_options_into_good_and_bad(
        self, scale: type[Scale]
    ) -> None:
        values = [option.value for option in scale.options]
        above = [value for value in values if value > scale.binary_threshold]
        assert not values or 0 < len(above) < len(values)

    @pytest.mark.parametrize("raw", NO_NUMBERS)
    def test_what_is_no_plain_number_is_refused(
        self, scale: type[Scale], raw: str
    ) -> None:
        assert refused(scale, raw)
