"""Stores free text about people who can withdraw outside the journal, and loads it back when acts are read.

The journal is append-only and contains a reference in place of each such text. A round records the origin of its items
when it opens, and the feature of that origin stores the texts with the other data of the person, so that a withdrawal
erases both at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from quaestor.base.errors import StateError
from quaestor.coding.model.free_text_fields import WALKS, Walk, find_origin, list_items
from quaestor.coding.model.state import State
from quaestor.store.act_texts import NewLabel, NewText, new_token
from quaestor.store.records import Act, NewAct
from quaestor.study.features import features
from quaestor.study.folder import Study
from quaestor.study.free_text import FreeTextStore

_MARK = "free_text"
"""The payload key with the origin of the feature that stores the texts of the act."""
_TEXT, _LABEL = re.compile(r"kept:(\d{1,9})"), re.compile(r"label:([0-9a-f]{12})")
_ERASED = re.compile(r"\(erased ([0-9a-f]{12})\)")
"""Replaces an erased label; equal words have equal replacements, so that agreement does not change."""


@dataclass
class _Pending:
    """Texts of one feature's acts that are about to be recorded; stored before the journal commits."""

    texts: dict[str, list[NewText]] = field(default_factory=dict)
    """By act key."""
    labels: list[NewLabel] = field(default_factory=list)
    tokens: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)


class CodingFreeText:
    """The free text of coding acts. Not thread-safe: the session has a lock.

    `study.contributions` states the order of locks.
    """

    def __init__(self, study: Study) -> None:
        self._features: dict[str, FreeTextStore[State]] = {
            feature.origin: feature for feature in _iterate_stores(study)
        }
        self._walks: dict[str, tuple[str, Walk]] = {
            kind: (feature.origin, walk) for feature in self._features.values() for kind, walk in feature.walks.items()
        }
        self.changing = frozenset(kind for feature in self._features.values() for kind in feature.changing)
        self._pending: dict[str, _Pending] = {}
        self._unreadable: set[str] = set()
        """Origins whose texts could not be loaded because their file or its key is missing."""
        self._erasures: dict[str, int] = {}
        """By origin, the number of erasures when the texts were last read from the start."""

    def close(self) -> None:
        for feature in self._features.values():
            feature.close()

    # Into the journal

    def separate(self, state: State, act: NewAct, known: Act | None) -> NewAct:
        """Returns an act with references in place of its texts and keeps the texts for `store`.

        A recorded act (`known`) already refers to its texts, which may have been changed or erased since.
        """
        walk = self._find_walk(act.kind)
        feature = self._find_feature(state, act) if walk else None
        if walk is None or feature is None:
            return act
        self._require_loaded(feature)
        if known is not None:
            return self._copy_references(state, act, known, walk)
        self._note_erasures(feature)
        pending = self._pending.setdefault(feature.origin, _Pending())
        texts: list[NewText] = []

        def change(items: Sequence[str], text: str, is_label: bool) -> str:
            owners = tuple(dict.fromkeys(owner for item in items if (owner := feature.owner_of(item))))
            if not owners:
                return text
            if not feature.is_readable():
                raise StateError(feature.missing())
            if is_label and (erased := _ERASED.fullmatch(text)):
                return f"label:{erased[1]}"
            left = tuple(owner for owner in owners if not feature.texts().is_erased(owner))
            token = pending.tokens.get(text) or feature.texts().find_token(text) if is_label else None
            if token is None and not left:
                raise StateError(feature.refusal(owners[0]))
            if is_label:
                # The same word always has the same token, regardless of the person, so that equal words stay equal.
                token = token or new_token()
                pending.tokens[text], pending.words[token] = token, text
                pending.labels.append(NewLabel(token, left, text))
                return f"label:{token}"
            texts.append(NewText(act.key, len(texts), left, text))
            return f"kept:{len(texts) - 1}"

        payload = walk(state, act.payload, change)
        if payload == act.payload:
            return act
        pending.texts[act.key] = texts
        return replace(act, payload={**payload, _MARK: feature.origin})

    def _copy_references(self, state: State, act: NewAct, known: Act, walk: Walk) -> NewAct:
        """Returns an act with the references of the recorded act, or unchanged if that act contains its texts."""
        references: list[str] = []

        def collect(items: Sequence[str], text: str, is_label: bool) -> str:
            references.append(text)
            return text

        walk(state, known.payload, collect)
        if not any(map(_is_reference, references)):
            return act
        left = iter(references)
        payload = walk(state, act.payload, lambda items, text, is_label: next(left, text))
        mark = {_MARK: known.payload[_MARK]} if _MARK in known.payload else {}
        return replace(act, payload={**payload, **mark})

    def store(self) -> None:
        """Writes the pending texts to disk.

        The session calls this before the journal commits: a text without its act does no harm, an act without its text
        would.
        """
        for origin, pending in self._pending.items():
            texts = [text for of_act in pending.texts.values() for text in of_act]
            if texts or pending.labels:
                self._features[origin].texts().store(texts, pending.labels)

    def forget_pending(self, act: str | None = None) -> None:
        """Drops the pending texts of a refused act, or all of them after they were stored or the commit failed."""
        if act is None:
            self._pending.clear()
        for pending in self._pending.values():
            pending.texts.pop(act or "", None)

    # Out of the journal

    def join(self, state: State, act: Act) -> Act:
        """Returns an act with its texts; erased texts are empty, and so are all if the file or its key is missing.

        `state` must include at least the acts before it.
        """
        if _MARK not in act.payload and not self._is_older_act(state, act):
            return act
        return self._join_texts(state, act)[0]

    def is_changed(self, state: State, act: Act) -> bool:
        """Returns whether a text of an act may have been erased or changed since it was recorded."""
        if _MARK not in act.payload and not self._is_older_act(state, act):
            return False
        since = any(other.kind in self.changing and other.number > act.number for other in state.unhandled_acts)
        return since or not self._join_texts(state, act)[1]

    def _join_texts(self, state: State, act: Act) -> tuple[Act, bool]:
        """Returns an act with its texts, and whether all of them exist."""
        origin = act.payload.get(_MARK) or next(
            store.origin for store in self._features.values() if store.is_older_act(act)
        )
        payload = {name: value for name, value in act.payload.items() if name != _MARK}
        feature, walk = self._features.get(origin), self._find_walk(act.kind)
        if feature is None or walk is None:
            raise StateError(f"act {act.number} was recorded by a newer version of Quaestor: install that version")
        readable = feature.is_readable()
        if not readable:
            self._unreadable.add(origin)
        self._note_erasures(feature)
        pending = self._pending.get(origin, _Pending())
        waiting = {text.number: text.text for text in pending.texts.get(act.key, ())}
        texts = waiting or (feature.texts().read_texts(act.key) if readable else {})
        complete = True

        def change(items: Sequence[str], text: str, is_label: bool) -> str:
            nonlocal complete
            if match := _LABEL.fullmatch(text):
                word = pending.words.get(match[1]) or (feature.texts().find_label(match[1]) if readable else None)
                complete &= word is not None
                return f"(erased {match[1]})" if word is None else word
            if match := _TEXT.fullmatch(text):
                complete &= int(match[1]) in texts
                return texts.get(int(match[1]), "")
            return text

        return replace(act, payload=walk(state, payload, change)), complete

    def is_outdated(self) -> bool:
        """Returns whether texts were erased since they were read, or became readable."""
        back = {origin for origin in self._unreadable if self._features[origin].is_readable()}
        self._unreadable -= back
        changed = False
        for origin, before in self._erasures.items():
            feature = self._features[origin]
            if feature.is_readable() and (now := feature.texts().count_erasures()) != before:
                self._erasures[origin] = now
                changed = True
        return changed or bool(back)

    def _note_erasures(self, feature: FreeTextStore[State]) -> None:
        if feature.origin not in self._erasures and feature.is_readable():
            self._erasures[feature.origin] = feature.texts().count_erasures()

    def require_loaded(self) -> None:
        """Raises StateError if existing texts cannot be read."""
        for origin in self._unreadable:
            self._require_loaded(self._features[origin])

    def _require_loaded(self, feature: FreeTextStore[State]) -> None:
        if feature.origin in self._unreadable:
            raise StateError(feature.missing())

    def _find_walk(self, kind: str) -> Walk | None:
        return WALKS.get(kind) or self._walks.get(kind, ("", None))[1]

    def _find_feature(self, state: State, act: NewAct) -> FreeTextStore[State] | None:
        """Finds the feature that an act's items come from."""
        if act.kind in self._walks:
            return self._features[self._walks[act.kind][0]]
        if origin := find_origin(state, act.payload):
            return self._features.get(origin)
        items = list_items(state, act.payload)
        return next((feature for feature in self._features.values() if any(map(feature.holds, items))), None)

    def _is_older_act(self, state: State, act: Act) -> bool:
        """Returns whether an act without an origin, recorded by an older version, refers to texts."""
        if act.kind not in WALKS or find_origin(state, act.payload):
            return False
        return any(feature.is_older_act(act) for feature in self._features.values()) and _contains_reference(
            act.payload
        )


def _iterate_stores(study: Study) -> Iterator[FreeTextStore[State]]:
    for feature in features():
        if feature.free_text is not None:
            yield feature.free_text(study)


def _is_reference(text: str) -> bool:
    return bool(_TEXT.fullmatch(text) or _LABEL.fullmatch(text))


def _contains_reference(value: Any) -> bool:
    if isinstance(value, str):
        return value.startswith("kept:") and _TEXT.fullmatch(value) is not None
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_contains_reference(part) for part in inside)
