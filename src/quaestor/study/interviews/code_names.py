"""Known names in what a codebook says: no act may bring one in, since the codebook keeps everything for good."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quaestor.base.errors import StateError
from quaestor.coding.records import Code, Codebook, CodeFacet
from quaestor.instruments.interviews.name_search import Finder
from quaestor.study.coding import Where, study_of
from quaestor.study.interviews.files import interviews_path, keys_of
from quaestor.study.interviews.names import finder_of
from quaestor.study.interviews.room import open_interviews

ID = "id"
_BETWEEN_WORDS = re.compile(r"[-_/]+")


def known_names(where: Where) -> Finder:
    """A search for the names that a study knows; for none where it has no interviews."""
    study = study_of(where)
    if not interviews_path(study).exists():
        return Finder(())
    for key in keys_of(study).values():
        if not key.exists():  # opening the files would make another, which opens nothing
            raise StateError(
                f"{key} is not there, so nobody can tell whether the codebook would hold a known name: bring it back "
                "before the codebook is changed"
            )
    with open_interviews(where) as interviews:
        return finder_of(interviews)


def refuse_names_in_codebook(finder: Finder, before: Codebook, after: Codebook) -> None:
    """Refuse a change by which a codebook would say a known name; what it says already can be mended."""
    for called, what, words in _new_words(finder, before, after):
        if found := finder.names_in(words):
            raise StateError(
                f"the {what} of {called} holds a known name, that of {found[0].shown}, and would keep it for good: "
                "choose other words"
            )


def words_in_code(code: Code) -> Iterator[tuple[str, str]]:
    """(what it is, the words) of all that a code says."""
    yield "name", code.name
    yield "definition", code.definition
    yield "use", f"{code.use}\n{code.not_}"
    yield "examples", "\n".join(code.examples)
    yield ID, _spaced(code.id)


def called_without_name(finder: Finder, code: Code) -> str:
    """A code by its id; by its facet alone where the id holds a name."""
    return f"a code of the facet {code.facet!r}" if finder.names_in(_spaced(code.id)) else f"the code {code.id!r}"


def _new_words(finder: Finder, before: Codebook, after: Codebook) -> Iterator[tuple[str, str, str]]:
    if after.name != before.name:
        yield "the codebook", "name", after.name
    for facet in after.facets.values():
        if facet.id not in before.facets:
            for what, words in _words_in_facet(facet):
                yield "a new facet", what, words
    for code in after.codes.values():
        known = before.codes.get(code.id)
        said = set(words_in_code(known)) if known else set()
        called = called_without_name(finder, code) if known else "a new code"
        for what, words in words_in_code(code):
            if (what, words) not in said:
                yield called, what, words


def _words_in_facet(facet: CodeFacet) -> Iterator[tuple[str, str]]:
    yield ID, _spaced(facet.id)
    yield "title", facet.title
    yield "levels", "\n".join(facet.levels)


def _spaced(name: str) -> str:
    """An id as words."""
    return _BETWEEN_WORDS.sub(" ", name)
