"""Converts between responses and rows of the answers file, and keeps the list of withdrawals."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.files import write_atomically
from quaestor.store.act_texts import erase_texts, list_owners, require_valid_texts
from quaestor.surveys.model.records import Response, ResponseStatus


def new_code() -> str:
    """Returns a new secret code for a respondent, with which they can continue and withdraw."""
    return secrets.token_urlsafe(18)


def new_id() -> str:
    return secrets.token_hex(8)


def hashed(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


def find_response(connection: sqlite3.Connection, code: str) -> Response | None:
    row = connection.execute("SELECT * FROM responses WHERE code = ?", (hashed(code),)).fetchone()
    return read_response(row) if row else None


def assign_variant(connection: sqlite3.Connection, survey: str, question: str, options: Sequence[str]) -> str:
    """Returns at random one of the options that the fewest open and finished responses have."""
    rows = connection.execute(
        "SELECT json_extract(answers, ?) AS variant, count(*) FROM responses"
        " WHERE survey = ? AND standing IN (?, ?) GROUP BY variant",
        (f'$."{question}".choices[0]', survey, ResponseStatus.OPEN.value, ResponseStatus.FINISHED.value),
    )
    counts = dict(rows.fetchall())
    fewest = min(counts.get(option, 0) for option in options)
    return secrets.choice([option for option in options if counts.get(option, 0) == fewest])


def build_row(code: str, response: Response) -> tuple[Any, ...]:
    return (
        response.id, hashed(code), response.survey, response.version, response.standing.value, response.language,
        response.seed, response.stratum, response.seconds, as_json(list(response.sent)),
        as_json(dict(response.answers)),
        response.day, response.source, int(response.synthetic),
    )  # fmt: skip


def read_response(row: Sequence[Any]) -> Response:
    name, _, survey, version, standing, language, seed, stratum, seconds, sent, answers, day, source, synthetic = row
    return Response(
        name, survey, version, ResponseStatus(standing), json.loads(answers), language, seed, stratum, seconds,
        tuple(json.loads(sent)), day, source, bool(synthetic),
    )  # fmt: skip


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


WITHDRAWN_LIST = "withdrawn.txt"
_LINE = re.compile(r"([0-9a-f]{64})\t([^\t]*)\t([^\t]*)")


@dataclass(frozen=True, order=True)
class ResponseWithdrawal:
    """A withdrawn response, known by the hash of its id."""

    response: str
    survey: str
    day: str


@dataclass(frozen=True)
class WithdrawnList:
    """The list of withdrawn responses next to the answers file; add to it only under its write lock."""

    path: Path

    @classmethod
    def next_to(cls, answers: Path) -> WithdrawnList:
        return cls(answers.with_name(WITHDRAWN_LIST))

    def read(self) -> set[ResponseWithdrawal]:
        """Reads all withdrawals; raises InputError for a malformed line, since it may have been one."""
        withdrawals = set()
        for number, line in enumerate(self._lines(), start=1):
            read = _LINE.fullmatch(line)
            if read is None:
                raise InputError(f"{self.path}, line {number} is not a withdrawal: restore or remove it")
            withdrawals.add(ResponseWithdrawal(*read.groups()))
        return withdrawals

    def add(self, new: Iterable[ResponseWithdrawal]) -> None:
        """Appends withdrawals durably; leaves malformed lines alone, so that nobody is prevented from withdrawing."""
        known = set(self._lines())
        together = known | {
            f"{withdrawal.response}\t{' '.join(withdrawal.survey.split())}\t{withdrawal.day}" for withdrawal in new
        }
        if together != known:
            write_atomically(
                self.path,
                "".join(f"{line}\n" for line in sorted(together)).encode("utf-8", "surrogateescape"),
                private=True,
            )

    def _lines(self) -> list[str]:
        try:
            return self.path.read_text("utf-8", "surrogateescape").splitlines()
        except FileNotFoundError:
            return []


_ERASURES = "SELECT survey, day, by, response FROM erasures"
Erasure = tuple[str, str, str, str]


def check_answers(copy: sqlite3.Connection) -> None:
    """Raises ValueError if a response is malformed."""
    for row in copy.execute("SELECT * FROM responses"):
        response = read_response(row)
        answers = response.answers
        if not isinstance(answers, dict) or not all(isinstance(answer, dict) for answer in answers.values()):
            raise ValueError(f"the answers of the response {response.id!r} are malformed")
        if not all(isinstance(page, str) for page in response.sent):
            raise ValueError(f"the pages of the response {response.id!r} are malformed")
    require_valid_texts(copy)


def read_erasures(answers: sqlite3.Connection) -> list[Erasure]:
    """Returns the recorded withdrawals: survey, day, by whom, hash of the response."""
    return answers.execute(_ERASURES).fetchall()


def read_withdrawals(answers: sqlite3.Connection) -> set[ResponseWithdrawal]:
    """Returns the withdrawals that have a hash."""
    return {
        ResponseWithdrawal(response, survey, day) for survey, day, _, response in read_erasures(answers) if response
    }


def leave_out(copy: sqlite3.Connection, known: Sequence[Erasure]) -> int:
    """Removes all withdrawn responses from a copy, records the withdrawals in it, and returns how many it removed."""
    _put_on_record(copy, known)
    gone = {response for _, _, _, response in read_erasures(copy)}
    names = [name for (name,) in copy.execute("SELECT id FROM responses").fetchall() if hashed(name) in gone]
    for name in names:
        _remove(copy, name)
    # A backup may contain texts about a response that it no longer contains.
    for owner in list_owners(copy):
        if hashed(owner) in gone:
            erase_texts(copy, owner)
    return len(names)


def _put_on_record(copy: sqlite3.Connection, known: Sequence[Erasure]) -> None:
    """Writes erasures in the order of their hashes, so that equal knowledge gives equal files."""
    there = read_erasures(copy)
    named = {erasure[3]: erasure for erasure in sorted([*known, *there]) if erasure[3]}
    # Erasures before the hash was introduced can only be counted.
    unnamed = Counter(erasure for erasure in there if not erasure[3]) | Counter(
        erasure for erasure in known if not erasure[3]
    )
    together = [*sorted(unnamed.elements()), *(named[response] for response in sorted(named))]
    copy.execute("DELETE FROM erasures")
    copy.executemany("INSERT INTO erasures (survey, day, by, response) VALUES (?, ?, ?, ?)", together)


def keep_refusals(copy: sqlite3.Connection, answers: sqlite3.Connection) -> int:
    """Erases from a copy the answers of respondents who declined since, and returns how many."""
    query = "SELECT id FROM responses WHERE standing = ?"
    declined = {name for (name,) in answers.execute(query, (ResponseStatus.DECLINED.value,))}
    before = {name for (name,) in copy.execute(query, (ResponseStatus.DECLINED.value,))}
    there = {name for (name,) in copy.execute("SELECT id FROM responses")}
    since = sorted((declined - before) & there)
    for name in since:
        _remove(copy, name)
        row = answers.execute("SELECT * FROM responses WHERE id = ?", (name,)).fetchone()
        copy.execute(f"INSERT INTO responses VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
        pages = answers.execute("SELECT response, page, key, answers, seconds FROM saves WHERE response = ?", (name,))
        new = "INSERT INTO saves (response, page, key, answers, seconds) VALUES (?, ?, ?, ?, ?)"
        copy.executemany(new, pages.fetchall())
    return len(since)


def keep_quoted(copy: sqlite3.Connection, answers: sqlite3.Connection) -> None:
    """Copies the places that still quote withdrawn responses."""
    places = answers.execute("SELECT survey, place FROM quoted").fetchall()
    copy.executemany("INSERT OR IGNORE INTO quoted VALUES (?, ?)", places)


def _remove(copy: sqlite3.Connection, name: str) -> None:
    erase_texts(copy, name)
    copy.execute("DELETE FROM saves WHERE response = ?", (name,))
    copy.execute("DELETE FROM responses WHERE id = ?", (name,))
