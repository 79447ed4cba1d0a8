import pytest

from leaderboard.submissions.preflight.languages import NAMES, looks_like, small_words
from tests.leaderboard.submissions.preflight.cast import (
    reworded,
    sentences,
    warnings_of,
)

GERMAN = [
    "Der Bäcker hat das Rad repariert und es nicht verkauft.",
    "Die Lampe ist kaputt, aber sie steht noch auf dem Tisch.",
    "Wir haben den Schlüssel unter der Brücke gefunden.",
    "Nach dem Konzert war es in der Stadt sehr still.",
    "Das Boot lag am Ufer, und niemand wollte es haben.",
]


def test_an_ordinary_submission_gets_no_warning():
    references = sentences(100)
    assert warnings_of(reworded(references), references) == {}


def test_empty_predictions_are_counted_and_named_by_place():
    references = sentences(50)
    predictions = list(references)
    predictions[7], predictions[30] = "", " \n\u00a0"
    assert set(warnings_of(predictions, references)) == {"empty-predictions"}


def test_one_answer_for_everything_is_noticed():
    references = sentences(60)
    predictions = reworded(references)
    predictions[10:20] = ["I do not know."] * 9 + ["i do  NOT know"]
    assert "identical-predictions" in warnings_of(predictions, references)


def test_a_few_answers_again_and_again_are_noticed():
    references = sentences(100)
    predictions = [sentences(25, seed=4)[i % 25] for i in range(100)]
    assert "identical-predictions" in warnings_of(predictions, references)


def test_answers_that_people_repeat_too_may_repeat():
    answers = ["Yes.", "No.", "Yes.", "Yes."] * 25
    assert "identical-predictions" not in warnings_of(answers, answers)


def test_empty_texts_are_not_called_identical_and_twenty_places_are_named():
    found = warnings_of([""] * 50, sentences(50))
    assert set(found) == {"empty-predictions"}


@pytest.mark.parametrize("cut", [lambda t: t[:28], lambda t: " ".join(t.split()[:4])])
def test_texts_cut_off_at_a_limit_are_noticed(cut):
    references = sentences(120)
    warning = warnings_of([cut(text) for text in references], references)
    assert "truncated-predictions" in warning


def test_a_ceiling_is_named_with_its_unit():
    short = [f"Number {i} sings." for i in range(97)]
    long = [
        f"Number {i} sings loudly beside seven quiet brown horses every day."
        for i in range(3)
    ]
    predictions = short + [" ".join(text.split()[:7]) for text in long]
    assert "truncated-predictions" in warnings_of(predictions, short + long)


def test_leaving_final_marks_out_is_a_style_not_a_truncation():
    references = sentences(80)
    assert warnings_of([text.rstrip(".") for text in references], references) == {}


def test_short_answers_without_final_marks_are_in_order():
    two = ["it melts", "the ice melts"]
    references = [two, ["gravity"], ["in the north of the island"]] * 20
    predictions = ["it melts", "gravity pulls", "in the north"] * 20
    assert "truncated-predictions" not in warnings_of(predictions, references)


def test_summaries_cut_out_of_their_articles_are_noticed_unless_references_quote():
    articles = [" ".join(sentences(10, seed=i)) for i in range(30)]
    references = sentences(30, seed=77)
    cut_out = [article.split(". ")[0] + "." for article in articles]
    found = warnings_of(cut_out, references, articles, source_language="en")
    assert "copied-from-source" in found
    own_words = reworded(references)
    assert warnings_of(own_words, references, articles, source_language="en") == {}
    quotes = [article.split(". ")[1] for article in articles]
    found = warnings_of(quotes, quotes, articles, source_language="en")
    assert "copied-from-source" not in found


def test_names_and_numbers_may_equal_their_source():
    names = [f"Haus {i}" for i in range(30)]
    assert "copied-from-source" not in warnings_of(names, names, names)


def test_another_script_is_noticed_and_named():
    references = sentences(20)
    predictions = ["Сегодня весь день идёт дождь."] * 2
    predictions += ["今日は一日中雨が降っています。"] * 3 + references[5:]
    assert "wrong-language" in warnings_of(predictions, references)


def test_a_language_that_is_not_known_here_is_not_judged():
    texts = sentences(20)
    assert "wrong-language" not in warnings_of(texts, texts, target_language="fi")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The man was in the garden with his dog.", "en"),
        (GERMAN[0], "de"),
        ("Le chien est dans la maison avec les enfants.", "fr"),
        ("El perro está en la casa con los niños.", "es"),
        ("Il cane è nella casa con i bambini.", "it"),
        ("O cão está na casa com as crianças.", "pt"),
        ("De hond is in het huis met een kind.", "nl"),
        ("Hunden är i huset och barnen är inte där.", "sv"),
        ("Pies jest w domu i nie chce z niego wyjść.", "pl"),
        ("Pes je v domě a nechce se z něj hnout.", "cs"),
        ("Bu ev çok büyük ve bir bahçe için yer var.", "tr"),
        ("Собака лежит дома и никуда не хочет.", "ru"),
        ("كان الكلب في البيت طوال اليوم", "ar"),
        ("狗今天一整天都在家里睡觉", "zh"),
        ("犬は一日中家で寝ていました", "ja"),
    ],
)
def test_languages_are_told_apart(text, language):
    assert looks_like(text, language) == ""
    other = "de" if language != "de" else "en"
    assert looks_like(text, other)


def test_every_language_with_words_has_a_name():
    assert all(small_words(language) for language in NAMES)


def test_the_same_system_again_is_noticed_and_named():
    references = sentences(60)
    first, second = reworded(references, seed=1), reworded(references, seed=2)
    again = [text.replace("the ", "the  ") for text in first[:-5]] + second[-5:]
    found = warnings_of(
        again, references, earlier=[("Ferry 1", second), ("Ferry 2", first)]
    )
    assert "near-duplicate" in found
    assert warnings_of(second, references, earlier=[("Ferry 2", first)]) == {}
    # submissions to a different test set are not compared
    assert warnings_of(first, references, earlier=[("A", first[:-1])]) == {}


def test_good_systems_may_agree_on_right_answers():
    references = sentences(60)
    first = [*references[:50], *reworded(references, seed=1)[50:]]
    second = [*references[:50], *reworded(references, seed=2)[50:]]
    assert "near-duplicate" not in warnings_of(
        second, references, earlier=[("A", first)]
    )


def test_figures_and_sentences_can_be_stored():
    found = warnings_of(
        [""] * 5 + [*GERMAN, "He is the"] * 5, sentences(35), GERMAN * 7
    )
    assert len(found) >= 3


@pytest.mark.parametrize("n", [0, 1, 2])
def test_tiny_submissions_pass(n):
    texts = sentences(3)[:n]
    assert warnings_of(texts, texts, texts) == {}


@pytest.mark.parametrize(
    "text", ["", "\u00ad", "🙂", "\ud800", "a" * 100_000, "((((", "1 2 3 4"]
)
def test_odd_texts_do_not_stop_it(text):
    warnings_of([text] * 6, sentences(6), [text] * 6)
    warnings_of(sentences(6), [text] * 6, earlier=[("odd", [text] * 6)])


@pytest.mark.parametrize(
    ("code", "odd"),
    [
        ("identical-predictions", ["I do not know."] * 3),
        (
            "copied-from-source",
            [GERMAN[0] + " Nummer 0.", GERMAN[1].upper() + " NUMMER 1.", GERMAN[2] + " Nummer 2.!"],
        ),
        ("wrong-language", GERMAN[2:]),
        ("truncated-predictions", ["Out of", "They went to the sea and", "It was red,"]),
    ],
)  # fmt: skip
def test_three_odd_texts_of_29_are_a_sign_and_two_are_none(code, odd):
    references = sentences(29)
    sources = [f"{GERMAN[i % 5]} Nummer {i}." for i in range(29)]
    predictions = reworded(references)
    predictions[:2] = odd[:2]
    assert code not in warnings_of(predictions, references, sources)
    predictions[2] = odd[2]
    assert code in warnings_of(predictions, references, sources)


def test_names_with_one_foreign_small_word_are_no_foreign_text():
    assert looks_like("Harvard and Stanford der Berlin und Madrid", "en") == ""
    assert looks_like("Harvard and Stanford der Berlin und die Madrid", "en") == "de"
    assert looks_like("Harvard Stanford Berlin und Madrid Paris", "en") == ""
    assert looks_like("Harvard Stanford der Berlin und Madrid Paris", "en") == "de"
