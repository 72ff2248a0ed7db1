"""Names that columns have in five languages and in the files of usual tools."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


ROLE_NAMES: Mapping[str, frozenset[str]] = {
    "item": word_set(
        "item subject task unit example question document doc target ad text essay sample image "
        "picture video clip case patient object stimulus hit sentence tweet post paragraph "
        "passage article song wine product aufsatz objekt frage aufgabe beispiel dokument bild "
        "fall patientin satz probe gegenstand element objet exemple tache copie texte cas "
        "phrase sujet dissertation image elemento objeto ejemplo tarea documento texto caso "
        "pregunta imagen ensayo sujeto muestra oggetto esempio compito testo domanda immagine "
        "tema soggetto campione frase"
    ),
    "rater": word_set(
        "rater who worker annotator coder judge labeler labeller user model reviewer expert "
        "grader marker observer reader evaluator assessor examiner scorer respondent turker "
        "bewerter bewerterin beurteiler beurteilerin gutachter gutachterin prufer pruefer "
        "kodierer codierer richter experte beobachter urteiler korrektor evaluateur juge "
        "annotateur codeur noteur correcteur observateur examinateur relecteur evaluador "
        "evaluadora juez anotador codificador calificador experto observador revisor corrector "
        "valutatore valutatrice giudice annotatore codificatore esperto osservatore revisore "
        "correttore"
    ),
    "rating": word_set(
        "rating score label response answer value vote category grade mark judgment judgement "
        "points stars decision verdict annotation sentiment class code bewertung note punkte "
        "punktzahl wert urteil kategorie klasse antwort einstufung wertung messwert evaluation "
        "jugement reponse categorie classe etiquette valeur avis calificacion puntuacion nota "
        "puntaje valor juicio respuesta categoria clase etiqueta voto valutazione punteggio "
        "giudizio risposta etichetta valore"
    ),
    "pool": word_set("pool group vendor team gruppe groupe equipe grupo equipo gruppo squadra"),
    "gold": word_set("gold truth known correct goldstandard wahrheit verite verdad verita"),
}
# Words that a name has besides what it names.
FILLERS = word_set("id ids name names no nr num number code the of der des de la le")
# What is rated where its column has ids: "Answer ID" names items, "Answer" ratings.
IDENTIFIED = word_set("answer response output completion generation comment review message record")
# Columns of forms and tools that describe a response and hold no answer.
ABOUT_RESPONSES = word_set(
    "startdate enddate status ipaddress progress durationinseconds duration finished "
    "recordeddate recipientlastname recipientfirstname recipientemail externalreference "
    "externaldatareference locationlatitude locationlongitude distributionchannel "
    "userlanguage timestamp zeitstempel horodateur marcatemporal informazionicronologiche "
    "qrecaptchascore"
)
RESPONDENTS = (
    "responseid",
    "emailaddress",
    "emailadresse",
    "adressemail",
    "direcciondecorreoelectronico",
    "indirizzoemail",
    "username",
    "email",
    "participantid",
    "prolificpid",
)
# What a row or a column of figures about the others is called.
SUMMARY_NAMES = word_set(
    "total totals sum mean average avg median sd std stdev stddev min minimum max maximum "
    "count summe gesamt insgesamt mittelwert mittel durchschnitt anzahl moyenne somme "
    "ensemble ecart-type promedio suma media totale somma overall grand_total mean_score "
    "average_score mean_rating average_rating mw mediane mediana subtotal zwischensumme "
    "total_general"
)


def plain(text: Any) -> str:
    """Return a text in lower case, without accents, spaces and marks around it.

    Parameters
    ----------
    text : Any
        The text.

    Returns
    -------
    str
        Words are joined by underscores.
    """
    folded = unicodedata.normalize("NFKD", str(text)).casefold()
    letters = "".join(sign for sign in folded if not unicodedata.combining(sign))
    return "_".join(letters.strip(" \t\u00a0:=.*-\u2013\u2014()[]").split())


def is_summary(text: Any) -> bool:
    """Whether a text is the name of a figure about all others, such as "Total".

    Parameters
    ----------
    text : Any
        The text.

    Returns
    -------
    bool
    """
    return plain(text) in SUMMARY_NAMES


def words_of(name: Any) -> list[str]:
    """Return the words of a column's name, without accents, capitals and fillers.

    Parameters
    ----------
    name : Any
        The name, such as ``WorkerId`` or ``Answer.sentiment``.

    Returns
    -------
    list of str
        Such as ``["worker"]``; all words if all are fillers.
    """
    words = _all_words(name)
    return [word for word in words if word not in FILLERS] or words


def _all_words(name: Any) -> list[str]:
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", str(name))
    folded = unicodedata.normalize("NFKD", parts.replace("ß", "ss")).casefold()
    letters = "".join(sign for sign in folded if not unicodedata.combining(sign))
    return re.findall("[a-z]+", letters)


def compact(name: Any) -> str:
    """Return the letters of a name: ``Duration (in seconds)`` as ``durationinseconds``."""
    folded = unicodedata.normalize("NFKD", str(name)).casefold()
    return "".join(re.findall("[a-z]+", folded))


def name_suits(name: Any, role: str) -> int:
    """Return how well a name suits a role: 2 if it is a name of the role, 1 if it has one, or 0."""
    known, words = ROLE_NAMES[role], words_of(name)
    singular = [word.removesuffix("s") if word not in known else word for word in words]
    if role in ("item", "rating") and "id" in _all_words(name) and IDENTIFIED.issuperset(singular):
        return 2 if role == "item" else 0
    if len(singular) == 1 and singular[0] in known:
        return 2
    return int(any(word in known for word in singular))
