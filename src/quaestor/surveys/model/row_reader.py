"""A row of a file as the answers of one respondent: what can be read is kept, what cannot is told with its place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from quaestor.base.errors import InputError
from quaestor.surveys.model.answer_forms import LONGEST, checked_answer, gap_in, rank_of
from quaestor.surveys.model.column_mapping import ColumnMapping, Part
from quaestor.surveys.model.flow import is_shown
from quaestor.surveys.model.records import CHOSEN, Answer, Kind, Missing, Place, Question, Questionnaire, Standing

LONGEST_CELL = 20_000
"""Characters of a cell with choices; a longer one holds none."""


def plain(text: str) -> str:
    """A label or cell with single blanks: files and people differ in these."""
    return " ".join(text.split())


def split_known(cell: str, known: Iterable[str], separator: str = ",") -> tuple[list[str], list[str]]:
    """The known texts that make up a cell, and the pieces that nobody knows, both as they follow each other.

    Of all ways to cut the cell at separators, the one that leaves the fewest characters unknown; where two are equal,
    the one with longer texts.
    """
    text, labels = plain(cell), {one: plain(one) for one in known}
    if len(text) > LONGEST_CELL:
        return [], [text]
    starts = _starts(text, separator)
    following = dict(zip(starts, [*starts[1:], len(text) + 1], strict=True))
    best: dict[int, tuple[int, int]] = {len(text) + 1: (0, 0)}
    chosen: dict[int, tuple[str | None, int]] = {}
    for start in reversed(starts):
        unknown, pieces = best[following[start]]
        best[start], chosen[start] = (unknown, pieces), (None, following[start])
        for one, label in labels.items():
            end = start + len(label)
            if not label or not text.startswith(label, start) or not _ends(text, end, separator):
                continue
            after = _after(text, end, separator)
            covered = (best[after][0] + len(label), best[after][1] - 1)
            if covered > best[start]:
                best[start], chosen[start] = covered, (one, after)
    return _walk(text, chosen, separator)


def _starts(text: str, separator: str) -> list[int]:
    """Where a piece can begin: at the beginning, and behind each separator."""
    starts, place = [0], text.find(separator)
    while place >= 0:
        starts.append(_after(text, place, separator))
        place = text.find(separator, place + len(separator))
    return sorted({start for start in starts if start <= len(text)})


def _ends(text: str, end: int, separator: str) -> bool:
    return end == len(text) or text[end : end + 1 + len(separator)].lstrip(" ").startswith(separator)


def _after(text: str, end: int, separator: str) -> int:
    """Where the piece behind a separator begins; beyond the text where none follows."""
    place = text.find(separator, end)
    if place < 0:
        return len(text) + 1
    place += len(separator)
    while place < len(text) and text[place] == " ":
        place += 1
    return place


def _walk(text: str, chosen: dict[int, tuple[str | None, int]], separator: str) -> tuple[list[str], list[str]]:
    found: list[str] = []
    unknown: list[str] = []
    place, begun = 0, -1
    while place in chosen:
        one, after = chosen[place]
        if one is None and begun < 0:
            begun = place
        if one is not None:
            found.append(one)
            if begun >= 0:
                unknown.append(text[begun:place])
                begun = -1
        place = after
    if begun >= 0:
        unknown.append(text[begun:])
    pieces = (one.strip(f"{separator} ") for one in unknown)
    return found, [one for one in pieces if one]


_NOT_CHOSEN = ("0", "false", "no")
_SHOWN = 80


@dataclass
class RowSaid:
    """What one row says."""

    answers: dict[str, Answer] = field(default_factory=dict)
    """By question, where there is an answer."""
    reasons: dict[str, str] = field(default_factory=dict)
    """By question, why there is none, where the file says so."""
    unread: list[Place] = field(default_factory=list)
    odd: list[Place] = field(default_factory=list)
    """Kept as it stands, though the questionnaire would not have taken it."""
    markers: list[Place] = field(default_factory=list)
    telling: Collection[str] = ()
    """Questions of which the file says why they have no answer, as exports of our own do."""

    def reason(self, question: str) -> str | None:
        """Why there is no answer as the file says it; None where it cannot tell."""
        return self.reasons.get(question, "" if question in self.telling else None)


class RowReader:
    """Reads rows by a mapping; what each question knows is looked up once."""

    def __init__(self, mapping: ColumnMapping, columns: Sequence[str]) -> None:
        self._nothing = {plain(one) for one in mapping.settings.nothing}
        self._separator = mapping.settings.separator
        self._values, self._own = mapping.settings.values, bool(mapping.own)
        self._telling = {part.question.id for part in mapping.parts.values() if part.kind == "missing"}
        self._asked: dict[str, tuple[Question, list[tuple[int, str, Part]]]] = {}
        for place, column in enumerate(columns):
            part = mapping.parts.get(column)
            if part is not None:
                self._asked.setdefault(part.question.id, (part.question, []))[1].append((place, column, part))
        self._known = {
            name: _known(question, mapping.settings.values.get(name, {})) for name, (question, _) in self._asked.items()
        }

    @property
    def questions(self) -> Collection[str]:
        """Those that the file has a column for."""
        return self._asked.keys()

    def read(self, number: int, cells: Sequence[str], failed: Callable[[str], bool]) -> RowSaid:
        """The answers of a row; `failed` says of a cell whether its formula failed."""
        said = RowSaid(telling=self._telling)
        for name, (question, columns) in self._asked.items():
            one = _OneAnswer(question, number, said)
            for place, column, part in columns:
                cell = cells[place].strip()
                if not cell:
                    continue
                if failed(cells[place]):
                    one.tell(column, cell, "holds a formula that failed")
                elif plain(cell) in self._nothing:
                    said.markers.append(Place(number, column, name, cell, "stands for no answer"))
                else:
                    self._take(one, column, part, cell)
            answer = one.made()
            if answer:
                said.answers[name] = answer
        return said

    def _take(self, one: _OneAnswer, column: str, part: Part, cell: str) -> None:
        known = self._known[part.question.id]
        if part.kind == "missing":
            one.said.reasons[part.question.id] = cell
        elif part.kind == "text":
            one.words(column, part.code, cell)
        elif part.kind == "option":
            if cell.casefold() not in _NOT_CHOSEN or self._names(part, cell):
                one.chosen.setdefault(part.code, column)
        elif part.kind == "row":
            code = known.get(plain(cell))
            if code is None:
                one.tell(column, cell, "is no step of the scale")
            else:
                one.rows[part.code] = code
        elif part.kind == "rank":
            one.ranked(column, part.code, cell)
        elif part.question.kind in CHOSEN:
            self._split(one, column, cell, known)
        else:
            one.free(column, cell)

    def _names(self, part: Part, cell: str) -> bool:
        """Whether a cell says an option's own label, as "No" does of the option "No"; codes in exports do not count."""
        option = None if self._own else part.question.option(part.code)
        said = [option.label] if option else []
        said += [words for words, code in self._values.get(part.question.id, {}).items() if code == part.code]
        return not self._own and plain(cell).casefold() in {plain(one).casefold() for one in said}

    def _split(self, one: _OneAnswer, column: str, cell: str, known: Mapping[str, str]) -> None:
        found, unknown = split_known(cell, [*known, *self._nothing], self._separator)
        if any(label not in known for label in found):
            one.said.markers.append(Place(one.row, column, one.question.id, _short(cell), "goes with a marker"))
        for label in found:
            if label in known:
                one.chosen.setdefault(known[label], column)
        for piece in unknown:
            one.tell(column, piece, "is no option")


class _OneAnswer:
    """The parts of an answer as they are found in a row."""

    def __init__(self, question: Question, row: int, said: RowSaid) -> None:
        self.question, self.row, self.said = question, row, said
        self.chosen: dict[str, str] = {}
        self.rows: dict[str, str] = {}
        self._texts: dict[str, tuple[str, str]] = {}
        self._ranks: list[tuple[str, str, str]] = []
        self._free: tuple[str, str] | None = None

    def tell(self, column: str, cell: str, why: str) -> None:
        self.said.unread.append(Place(self.row, column, self.question.id, _short(cell), why))

    def words(self, column: str, code: str, cell: str) -> None:
        if len(cell) > LONGEST:
            self.tell(column, cell, f"is {len(cell):,} characters long, more than {LONGEST:,}")
        else:
            self._texts[code] = (column, cell)

    def ranked(self, column: str, code: str, cell: str) -> None:
        self._ranks.append((column, code, cell))

    def free(self, column: str, cell: str) -> None:
        self._free = (column, cell)

    def made(self) -> Answer:
        """The answer; empty where nothing could be read."""
        if self.question.kind in CHOSEN:
            return self._choices()
        if self.question.kind is Kind.MATRIX:
            return self._checked("", {"rows": self.rows, "texts": self._plain_texts()})
        if self.question.kind is Kind.RANKING:
            return self._ranking()
        if self._free is None:
            return {}
        column, cell = self._free
        key = "number" if self.question.kind is Kind.NUMBER else "text"
        return self._checked(column, {key: cell})

    def _choices(self) -> Answer:
        several = self.question.kind is Kind.MULTIPLE
        if len(self.chosen) > 1 and not several:
            first, *more = self.chosen
            labels = "; ".join(_label(self.question, code) for code in (first, *more))
            self.tell(self.chosen[first], labels, "is more than one answer to a question that takes one")
            return {}
        for code, (column, words) in list(self._texts.items()):
            if several or not self.chosen:
                # Words beside an "other" that was not ticked are an answer all the same.
                self.chosen.setdefault(code, column)
            elif code not in self.chosen:
                self.tell(column, words, "are words of an option that was not chosen")
                del self._texts[code]
        if not self.chosen:
            return {}
        alone = [code for code in self.chosen if self._goes_alone(code)]
        if alone and len(self.chosen) > 1:
            said = "; ".join(_label(self.question, code) for code in self.chosen)
            why = f"has {_label(self.question, alone[0])!r} with others, which goes alone"
            self.said.odd.append(Place(self.row, self.chosen[alone[0]], self.question.id, _short(said), why))
        column = next(iter(self.chosen.values()))
        return self._checked(column, {"choices": [*self.chosen], "texts": self._plain_texts()})

    def _ranking(self) -> Answer:
        """The ranking where it is one; with a tie or a gap nobody can tell who comes second, so it is none."""
        places: dict[int, str] = {}
        wrong = False
        for column, code, cell in self._ranks:
            place = rank_of(cell)
            if not 1 <= place <= len(self.question.options) or place in places:
                self.tell(column, cell, "is no place of its own in the ranking")
                wrong = True
            places.setdefault(place, code)
        gap = 0 if wrong else gap_in(places)
        if gap:
            column = next(column for column, _, cell in self._ranks if rank_of(cell) > gap)
            said = "; ".join(f"{code} {cell}" for _, code, cell in self._ranks)
            self.tell(column, said, f"leaves out place {gap} of the ranking")
        ranks = [] if wrong or gap else [places[place] for place in sorted(places)]
        return self._checked("", {"ranks": ranks})

    def _goes_alone(self, code: str) -> bool:
        option = self.question.option(code)
        return option is not None and option.alone

    def _plain_texts(self) -> dict[str, str]:
        return {code: words for code, (_, words) in self._texts.items()}

    def _checked(self, column: str, said: Mapping[str, object]) -> Answer:
        free = replace(self.question, options=tuple(replace(one, alone=False) for one in self.question.options))
        try:
            return checked_answer(free, said)
        except InputError as error:
            self.tell(column, str(next(iter(said.values()))), f"cannot be taken: {error}")
            return {}


def with_gaps(
    questionnaire: Questionnaire, said: RowSaid, asked: Collection[str], standing: Standing, row: int
) -> tuple[dict[str, Answer], tuple[str, ...]]:
    """All answers with an empty one for what was shown and skipped, and the pages that were sent.

    Of a row that is not finished, what lies behind its last answer was not reached, unless the file itself says why an
    answer is missing. What could not be read was not skipped either: nobody knows, and it counts as not reached. An
    answer to a question that should not have been shown is kept, and told.
    """
    answers: dict[str, Answer] = {}
    known: dict[str, Answer] = {}
    sent: list[str] = []
    unread = {one.question for one in said.unread}
    last = max((place for place, page in enumerate(questionnaire.pages)
                if any(one.id in said.answers for one in page.questions)), default=-1)  # fmt: skip
    for place, page in enumerate(questionnaire.pages):
        reached = standing is Standing.FINISHED or place <= last
        open_page = page.show_if is None or page.show_if.holds(known)
        whole = reached and open_page
        for one in page.questions:
            shown = open_page and is_shown(one, known)
            if shown:
                known[one.id] = said.answers.get(one.id, {})
            if one.id in said.answers:
                answers[one.id] = said.answers[one.id]
                if not shown:
                    said.odd.append(Place(row, "", one.id, "", "is answered though it was not to be shown"))
            elif shown and one.id in asked and one.id not in unread and _was_skipped(said.reason(one.id), reached):
                answers[one.id] = {}
            elif shown:
                whole = False
                if said.reason(one.id) == Missing.NOT_SHOWN.value:
                    said.odd.append(Place(row, "", one.id, "", "was not shown there, and is not reached here"))
        if whole:
            sent.append(page.id)
    return answers, tuple(sent)


def _was_skipped(reason: str | None, reached: bool) -> bool:
    return reached if reason is None else reason == Missing.SKIPPED.value


def _known(question: Question, values: Mapping[str, str]) -> dict[str, str]:
    """What a cell can say, and the option it means: what the mapping says, else labels, else codes."""
    known = {plain(said): code for said, code in values.items()}
    for one in question.options:
        known.setdefault(plain(one.label), one.code)
    for one in question.options:
        known.setdefault(one.code, one.code)
    return known


def _label(question: Question, code: str) -> str:
    option = question.option(code)
    return option.label if option else code


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
