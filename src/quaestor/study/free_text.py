"""Free text of acts that can be erased: the interface between a session and a feature's store.

The journal is append-only, so such a text must never enter it: before an act is recorded, `separate` replaces its texts
with references; when it is read back, `join` fills them in. Erasing is up to the feature's store, which erases a
person's texts in the same transaction as the rest of the person's data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from quaestor.store.act_texts import ActTexts
from quaestor.store.records import Act, NewAct

S = TypeVar("S")
Change = Callable[[Sequence[str], str, bool], str]
"""Takes the items that a text is about, the text, and whether it is a label; returns its replacement."""
Walk = Callable[[S, Mapping[str, Any], Change], dict[str, Any]]
"""Returns a payload with a `Change` applied to each text in it, always in the same order."""
S_contra = TypeVar("S_contra", contravariant=True)


class FreeText(Protocol[S_contra]):
    """Stores the free text of acts outside the journal and loads it back, given the folded state."""

    @property
    def changing(self) -> frozenset[str]:
        """Returns the kinds of acts that change or erase texts of earlier acts."""

    def separate(self, state: S_contra, act: NewAct, known: Act | None) -> NewAct:
        """Returns an act as the journal may store it and remembers its texts for `store`.

        `known` is the recorded act with the same key, which already refers to its texts.
        """

    def store(self) -> None:
        """Writes the remembered texts to disk; called before the journal commits."""

    def forget_pending(self, act: str | None = None) -> None:
        """Forgets the remembered texts of a rejected act, or of all acts."""

    def join(self, state: S_contra, act: Act) -> Act:
        """Returns an act with its texts; `state` is the state before the act, or a later one."""

    def is_changed(self, state: S_contra, act: Act) -> bool:
        """Tells whether a text of an act may have been erased or changed since it was recorded."""

    def is_outdated(self) -> bool:
        """Tells whether texts read before were erased since, or have become readable."""

    def require_loaded(self) -> None:
        """Raises an error if stored texts cannot be read."""

    def close(self) -> None: ...


class NoFreeText:
    """For acts without free text: everything stays in the journal."""

    changing: frozenset[str] = frozenset()

    def separate(self, state: object, act: NewAct, known: Act | None) -> NewAct:
        return act

    def store(self) -> None: ...

    def forget_pending(self, act: str | None = None) -> None: ...

    def join(self, state: object, act: Act) -> Act:
        return act

    def is_changed(self, state: object, act: Act) -> bool:
        return False

    def is_outdated(self) -> bool:
        return False

    def require_loaded(self) -> None: ...

    def close(self) -> None: ...


class FreeTextStore(Protocol[S_contra]):
    """One feature's store of free text. The feature erases a person's texts in the transaction of the withdrawal."""

    @property
    def origin(self) -> str:
        """Returns the origin of the items whose free text is stored here."""

    @property
    def walks(self) -> Mapping[str, Walk[S_contra]]:
        """Returns the feature's own acts with free text, by kind."""

    @property
    def changing(self) -> frozenset[str]:
        """Returns the kinds of acts that change or erase texts of earlier acts."""

    def owner_of(self, item: str) -> str | None:
        """Returns the person who can withdraw an item of this origin."""

    def holds(self, item: str) -> bool:
        """Tells whether an item is of this origin, for rounds opened before origins were recorded."""

    def is_older_act(self, act: Act) -> bool:
        """Tells whether an act without an origin has its texts here."""

    def is_readable(self) -> bool: ...

    def missing(self) -> str:
        """Returns what cannot be read and what to restore, as a sentence."""

    def refusal(self, owner: str) -> str:
        """Returns why nothing is stored about somebody who has withdrawn, as a sentence."""

    def texts(self) -> ActTexts:
        """Returns the store, opened on first use."""

    def close(self) -> None: ...
