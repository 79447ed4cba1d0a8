"""English."""

from quality.test_questions.edits.languages.base import (
    Language,
    groups,
    pairs,
    word_set,
)


class English(Language):
    slug = "en"
    number_words = groups(
        """
        two, three, four, five, six, seven, eight, nine, ten, eleven, twelve;
        twenty, thirty, forty, fifty, sixty, seventy, eighty, ninety;
        second, third, fourth, fifth, sixth, seventh, eighth;
        twice, three times, four times;
        half, a third, a quarter;
        """
    )
    names = groups(
        """
        Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday;
        January, February, March, April, June, July, August, September, October,
          November, December;
        Germany, France, Italy, Spain, Poland, Britain, Russia, China, Japan,
          Turkey, Austria, Sweden, India, Canada, Switzerland;
        German, French, Italian, Spanish, Polish, British, Russian, Chinese,
          Japanese, Turkish, Swedish, Canadian, Swiss;
        American, Austrian, English, Indian, Irish;
        European, African, Asian;
        Berlin, Paris, London, Rome, Madrid, Vienna, Moscow, Hamburg, Munich,
          Cologne, Frankfurt, Washington, Brussels, Istanbul;
        spring, summer, autumn, winter;
        north, south, east, west;
        northern, southern, eastern, western;
        morning, afternoon, evening;
        red, blue, green, yellow, black, white, brown, grey;
        mother, father, sister, brother, aunt, uncle;
        grandmother, grandfather;
        daughter, son;
        woman, man;
        girl, boy;
        """
    )
    units = groups(
        """
        seconds, minutes, hours, days, weeks, months, years, decades;
        second, minute, hour, day, week, month, year, decade;
        minute-long, hour-long, day-long, week-long, year-long;
        millimetres, centimetres, metres, kilometres, miles;
        millimeters, centimeters, meters, kilometers, feet, inches;
        grams, kilograms, kilos, tonnes, tons, pounds;
        thousand, million, billion;
        thousands, millions, billions, hundreds, dozens;
        euros, dollars, francs;
        litres, millilitres, gallons;
        km, m, cm, mm;
        kg, g, mg;
        €, $, £;
        """
    )
    opposites = pairs(
        """
        more, less; most, least; before, after; above, below; over, under;
        inside, outside; first, last; up, down; increase, decrease; increased,
        decreased; increases, decreases; rise, fall; rose, fell; rising,
        falling; risen, fallen; won, lost; win, lose; wins, loses; winning,
        losing; higher, lower; high, low; highest, lowest; large, small; larger,
        smaller; largest, smallest; big, little; bigger, smaller; biggest,
        smallest; longer, shorter; faster, slower; quickly, slowly; fast, slow;
        earlier, later; early, late; better, worse; best, worst; good, bad; old,
        young; older, younger; hot, cold; warm, cool; warmer, cooler; light,
        dark; lighter, heavier; strong, weak; stronger, weaker; left, right;
        open, closed; opened, closed; opens, closes; always, never; often,
        seldom; allowed, forbidden; accepted, rejected; began, ended; begins,
        ends; bought, sold; buy, sell; empty, full; remembered, forgot; found,
        lost; gained, lost; arrived, left; arrive, leave; hired, dismissed;
        alive, dead; guilty, innocent; possible, impossible; easy, difficult;
        easier, harder; public, private; male, female; upper, lower; rich, poor;
        positive, negative; top, bottom; front, back; many, few; with, without;
        minimum, maximum; day, night; wet, dry; clean, dirty; near, far; expand,
        contract; expands, contracts; absorb, reflect; absorbs, reflects; push,
        pull; pushes, pulls; melts, freezes; melt, freeze; liked, hated; loved,
        hated; happy, sad; awake, asleep; everybody, nobody; everyone, no one;
        everything, nothing; injured, unharmed; supported, opposed; supports,
        opposes; backed, opposed; approved, refused; agreed, refused; confirmed,
        denied; confirms, denies; free, expensive; stay, leave; stayed, left;
        remained, left; raise, cut; raised, cut; entered, left; survived, died;
        save, waste
        """
    )
    add_negation = (
        (r"\b(is|are|was|were|will|would|can|could|should|must|may|might|does|did)"
         r"(?= (?!not\b|no\b|never\b)[a-z])", r"\1 not"),
        (r"\b(has|have|had)(?= (?:been|[a-z]{2,}(?:ed|en))\b)", r"\1 not"),
        (r"\bit(?:’|')s\b", "it is not"),
    )  # fmt: skip
    remove_negation = (
        (r"\bcannot\b", "can"),
        (r"\bcan(?:’|')t\b", "can"),
        (r"\bwon(?:’|')t\b", "will"),
        (r"\b(is|are|was|were|do|does|did|has|have|had|could|would|should)n(?:’|')t\b", r"\1"),
        (r"\b(is|are|was|were|will|would|can|could|should|must|may|might|has|have|had"
         r"|do|does|did) not\b", r"\1"),
        (r"\b(has|have|had|is|are|was|were|would|will|could|can) never\b", r"\1 always"),
        (r"\bno longer\b", "still"),
        (r"\bnone of\b", "all of"),
        (r"\bthere (is|was) no\b", r"there \1 a"),
        (r"\bthere (are|were) no\b", r"there \1 many"),
        (r"\bnot\b", ""),
    )  # fmt: skip
    agreement = pairs(
        """
        is, are; are, is; was, were; were, was; has, have; have, has; does, do;
        this, these; these, this; those, that; a, an; an, a; he, him; she, her;
        they, them; we, us; who, whose; his, he; their, they; been, be; had,
        having; did, done; went, gone; said, say; says, say; made, make; makes,
        make; took, taken; got, get; came, coming; because, because of; much,
        many; many, much
        """
    )
    determiners = word_set(
        """
        the a an his her its their my our your this that every each another
        """
    )
    function_words = word_set(
        """
        the a an his her its their my our your this that these those every each
        another and or but nor so yet because although though while when where
        who which whom whose what why how if unless until since as than then of
        in on at by for from to with without into onto over under about above
        below between through during before after against among around behind
        beside beyond near off out up down across along is are was were be been
        being am do does did has have had will would can could should shall must
        may might not no i you he she it we they me him us them there here also
        only very too just still again towards toward via per despite within more most less least first last few many same other
        such all both one none some any
        """
    )
    joiners = word_set("because although though while when before after but")

    @classmethod
    def same_form(cls, old: str, new: str) -> bool:
        """Check for equal number and the same form of `a` or `an`.

        Examples
        --------
        >>> English.same_form("cat", "dog"), English.same_form("cat", "dogs")
        (True, False)
        """
        plural = [w.endswith("s") and not w.endswith("ss") for w in (old, new)]
        vowel = [w[:1].lower() in "aeiou" for w in (old, new)]
        return plural[0] == plural[1] and vowel[0] == vowel[1]
