"""Free text of acts that its authors or subjects can have erased: what a session and a feature's store provide for it.

The journal is append-only, so such a text must never enter it: the session hands each act to `separate` before it is
recorded, which leaves a reference in the place of the text, and to `join` when it is read back. Erasing is left to the
feature's store, which erases a person's texts in the same transaction as the rest of the person's data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from quaestor.store.act_texts import ActTexts
from quaestor.store.records import Act, NewAct

S = TypeVar("S")
Change = Callable[[Sequence[str], str, bool], str]
"""Gets the items that a text is about, the text, and whether it is a label; returns what takes its place."""
Walk = Callable[[S, Mapping[str, Any], Change], dict[str, Any]]
"""Returns a payload with what a `Change` makes of each text in it, always in the same order."""
S_contra = TypeVar("S_contra", contravariant=True)


class FreeText(Protocol[S_contra]):
    """Stores the free text of acts apart from the journal and loads it back, given the state that acts fold into."""

    @property
    def changing(self) -> frozenset[str]:
        """Kinds of acts after which texts of earlier acts are not what they were."""

    def separate(self, state: S_contra, act: NewAct, known: Act | None) -> NewAct:
        """Returns an act as the journal may hold it and remembers its texts for `store`.

        `known` is the act on record under the same key, which refers to its texts already.
        """

    def store(self) -> None:
        """Put the remembered texts on the disk; called before the journal commits."""

    def forget_pending(self, act: str | None = None) -> None:
        """Forget the remembered texts of an act that was refused, or of all acts."""

    def join(self, state: S_contra, act: Act) -> Act:
        """An act with its texts; `state` is what the acts before it led to, or later ones."""

    def is_changed(self, state: S_contra, act: Act) -> bool:
        """Whether a text of an act may have been erased or changed since it was recorded."""

    def is_outdated(self) -> bool:
        """Whether texts that were read before have been erased, or can be read now and could not be then."""

    def require_loaded(self) -> None:
        """Refuses to go on where texts that somebody wrote cannot be read."""

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
        """Of the items whose free text is stored here."""

    @property
    def walks(self) -> Mapping[str, Walk[S_contra]]:
        """By kind, the feature's own acts that take free text."""

    @property
    def changing(self) -> frozenset[str]:
        """Kinds of acts after which texts of earlier acts are not what they were."""

    def owner_of(self, item: str) -> str | None:
        """The person who can withdraw an item of this origin."""

    def holds(self, item: str) -> bool:
        """Whether an item is of this origin, for rounds that were opened before they recorded it."""

    def is_older_act(self, act: Act) -> bool:
        """Whether an act that names no origin has texts here all the same."""

    def is_readable(self) -> bool: ...

    def missing(self) -> str:
        """What cannot be read, and what to bring back, as a sentence."""

    def refusal(self, owner: str) -> str:
        """Why nothing is stored about somebody who has withdrawn, as a sentence."""

    def texts(self) -> ActTexts:
        """The store, opened on first use."""

    def close(self) -> None: ...
