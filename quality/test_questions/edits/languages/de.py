"""German."""

from quality.test_questions.edits.languages.base import (
    Language,
    groups,
    pairs,
    word_set,
)


class German(Language):
    slug = "de"
    capital_nouns = True
    number_words = groups(
        """
        zwei, drei, vier, fünf, sechs, sieben, acht, neun, zehn, elf, zwölf;
        zwanzig, dreißig, vierzig, fünfzig, sechzig, siebzig, achtzig;
        zweite, dritte, vierte, fünfte, sechste, siebte, achte;
        zweiten, dritten, vierten, fünften, sechsten, siebten, achten;
        zweimal, dreimal, viermal, fünfmal;
        """
    )
    names = groups(
        """
        Montag, Dienstag, Mittwoch, Donnerstag, Freitag, Samstag, Sonntag;
        Januar, Februar, März, April, Mai, Juni, Juli, August, September, Oktober,
          November, Dezember;
        Deutschland, Frankreich, Italien, Spanien, Polen, Russland, China, Japan,
          Österreich, Schweden, Indien, Kanada, Belgien;
        Berlin, Paris, London, Rom, Madrid, Wien, Moskau, Hamburg, München, Köln,
          Frankfurt, Washington, Brüssel, Istanbul;
        Norden, Süden, Osten, Westen;
        Frühling, Sommer, Herbst, Winter;
        Vormittag, Nachmittag, Abend;
        Mutter, Schwester, Tante, Großmutter, Tochter;
        Vater, Bruder, Onkel, Großvater, Sohn;
        """
    )
    units = groups(
        """
        Sekunden, Minuten, Stunden, Wochen;
        Tage, Monate, Jahre;
        Tagen, Monaten, Jahren;
        Zentimeter, Meter, Kilometer, Meilen;
        Gramm, Kilogramm, Kilo, Tonnen;
        Millionen, Milliarden;
        Euro, Dollar, Franken;
        km, m, cm, mm;
        kg, g, mg;
        €, $, £;
        """
    )
    opposites = pairs(
        """
        mehr, weniger; vor, nach; über, unter; größer, kleiner; große, kleine;
        großen, kleinen; großer, kleiner; älter, jünger; alte, junge; alten,
        jungen; höher, niedriger; besser, schlechter; guten, schlechten; gute,
        schlechte; früher, später; schneller, langsamer; schnell, langsam;
        gestiegen, gesunken; steigt, sinkt; stieg, sank; gewonnen, verloren;
        gewann, verlor; gewinnt, verliert; innerhalb, außerhalb; oben, unten;
        links, rechts; immer, nie; oft, selten; alles, nichts; jeder, niemand;
        erste, letzte; ersten, letzten; erster, letzter; warm, kalt; warme,
        kalte; hell, dunkel; stark, schwach; starke, schwache; starken,
        schwachen; öffnet, schließt; geöffnet, geschlossen; kaufte, verkaufte;
        gekauft, verkauft; mit, ohne; erlaubt, verboten; leicht, schwer; neue,
        alte; neuen, alten; neuer, alter; viele, wenige; vielen, wenigen;
        möglich, unmöglich; angenommen, abgelehnt; begann, endete; beginnt,
        endet; bestätigte, bestritt; tot, lebendig; länger, kürzer
        """
    )
    add_negation = (
        (r"\bein(e|en|em|er|es)?\b(?= [a-zäöüA-ZÄÖÜ])", r"kein\1"),
        (r"\b(ist|sind|war|waren|wird|werden|wurde|wurden|kann|können|muss|soll|will)"
         r"(?= (?:[a-zäöüß]+(?:t|en)\b))", r"\1 nicht"),
    )  # fmt: skip
    remove_negation = (
        (r"\bkein(e|en|em|er|es)?\b", r"ein\1"),
        (r"\bnicht mehr\b", "noch immer"),
        (r"\bnicht\b", ""),
        (r"\bniemals\b", "immer"),
    )
    agreement = pairs(
        """
        ist, sind; sind, ist; war, waren; waren, war; hat, haben; haben, hat;
        wird, werden; werden, wird; wurde, wurden; wurden, wurde; der, den; die,
        dem; das, der; den, die; dem, das; des, die; ein, einer; eine, einem;
        einen, eine; einem, einen; er, ihm; ich, mich; wir, uns; kann, können;
        können, kann; seine, seinem; ihre, ihrem; muss, müssen
        """
    )
    determiners = word_set(
        """
        der die das den dem des ein eine einen einem einer eines kein keine
        keinen mein meine meinen sein seine seinen seinem ihr ihre ihren ihrem
        unser unsere dieser diese dieses diesen diesem jeder jede jedes im am
        zum zur vom beim ins
        """
    )
    function_words = determiners | word_set(
        """
        und oder aber denn weil obwohl während wenn wann wo wer was warum wie ob
        bis seit als dann von in an auf bei für aus zu mit ohne über unter vor
        nach gegen zwischen durch um ist sind war waren sein haben hat hatte
        wird werden wurde wurden kann können muss soll nicht kein ich du er sie
        es wir ihr sich uns dort hier auch nur sehr noch schon wieder
        """
    )

    @classmethod
    def same_form(cls, old: str, new: str) -> bool:
        """Check for equal endings, which mostly show the number after an article.

        Examples
        --------
        >>> German.same_form("Fähre", "Schule"), German.same_form("Fähre", "Inseln")
        (True, False)
        """
        for ending in "nse":
            if old.endswith(ending):
                return new.endswith(ending)
        return new[-1:] not in "nse"
