"""Answers on their way back from a backup: what was taken back since does not come with them."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence

from quaestor.instruments.records import Standing
from quaestor.instruments.response_rows import hashed, response_in
from quaestor.instruments.withdrawn_list import Withdrawal
from quaestor.store.act_texts import check_plain_texts, erase_texts, owners_in

_ERASURES = "SELECT survey, day, by, response FROM erasures"
Erasure = tuple[str, str, str, str]


def check_answers(copy: sqlite3.Connection) -> None:
    """Raises ValueError where a response is none that any page or table could show."""
    for row in copy.execute("SELECT * FROM responses"):
        found = response_in(row)
        answers = found.answers
        if not isinstance(answers, dict) or not all(isinstance(said, dict) for said in answers.values()):
            raise ValueError(f"the answers of the response {found.id!r} are none")
        if not all(isinstance(page, str) for page in found.sent):
            raise ValueError(f"the pages of the response {found.id!r} are none")
    check_plain_texts(copy)


def erasures_in(answers: sqlite3.Connection) -> list[Erasure]:
    """What the file knows of withdrawals: survey, day, by whom, hash of the response."""
    return answers.execute(_ERASURES).fetchall()


def withdrawals_in(answers: sqlite3.Connection) -> set[Withdrawal]:
    """Those of them by which a response can be known."""
    return {Withdrawal(response, survey, day) for survey, day, _, response in erasures_in(answers) if response}


def leave_out(copy: sqlite3.Connection, known: Sequence[Erasure]) -> int:
    """Take all responses out of a copy that are known to be withdrawn, put that on record in it; how many they are."""
    _put_on_record(copy, known)
    gone = {response for _, _, _, response in erasures_in(copy)}
    names = [name for (name,) in copy.execute("SELECT id FROM responses").fetchall() if hashed(name) in gone]
    for name in names:
        _remove(copy, name)
    # A backup may hold what was written about a response that it does not hold any more.
    for owner in owners_in(copy):
        if hashed(owner) in gone:
            erase_texts(copy, owner)
    return len(names)


def _put_on_record(copy: sqlite3.Connection, known: Sequence[Erasure]) -> None:
    """In the order of the hashes, so that two files which know the same hold the same."""
    there = erasures_in(copy)
    named = {one[3]: one for one in sorted([*known, *there]) if one[3]}
    # Those of long ago have no hash: they can only be counted.
    unnamed = Counter(one for one in there if not one[3]) | Counter(one for one in known if not one[3])
    together = [*sorted(unnamed.elements()), *(named[response] for response in sorted(named))]
    copy.execute("DELETE FROM erasures")
    copy.executemany("INSERT INTO erasures (survey, day, by, response) VALUES (?, ?, ?, ?)", together)


def keep_refusals(copy: sqlite3.Connection, answers: sqlite3.Connection) -> int:
    """Whoever refused consent since the copy was made has nothing in it any more; how many they are."""
    asked = "SELECT id FROM responses WHERE standing = ?"
    declined = {name for (name,) in answers.execute(asked, (Standing.DECLINED.value,))}
    before = {name for (name,) in copy.execute(asked, (Standing.DECLINED.value,))}
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
    """Where withdrawn responses are still quoted is known after a restore too."""
    places = answers.execute("SELECT survey, place FROM quoted").fetchall()
    copy.executemany("INSERT OR IGNORE INTO quoted VALUES (?, ?)", places)


def _remove(copy: sqlite3.Connection, name: str) -> None:
    erase_texts(copy, name)
    copy.execute("DELETE FROM saves WHERE response = ?", (name,))
    copy.execute("DELETE FROM responses WHERE id = ?", (name,))
