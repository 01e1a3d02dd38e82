"""What coding contributes to a study."""

from __future__ import annotations

from quaestor.coding.round_outcomes import JournalOutcomes
from quaestor.coding.session import open_coding
from quaestor.coding.status import coding_status
from quaestor.study.features import Feature

FEATURE = Feature(
    "coding",
    status=coding_status,
    open_session=open_coding,
    round_outcomes=JournalOutcomes,
    act_sentences={
        "practice": "practised for {round}",
        "ratings.import": "brought in a file of ratings for {round}",
        "round.open": "opened the round {round}",
        "round.close": "closed the round {round}",
        "round.reopen": "opened the round {round} again",
        "round.waive": "waived what {round} had to reach",
        "round.replace": "gave a seat of {round} to somebody else",
        "round.deadline": "set the deadline of {round}",
        "round.set": "went on to the next set of {round}",
        "round.unblind": "looked at what was said in {round}",
        "comment": "commented on a disagreement of {round}",
        "tie.comment": "gave an independent answer in {round}",
        "decision.import": "brought in published decisions, {round}",
        "words.unify": "unified words of {round}",
        "words.reread": "asked for an item of {round} to be read again",
        "words.compare": "compared the words of a set of {round}",
        "codebook.import": "imported the codebook",
        "codebook.facet": "added a facet to the codebook",
        "codebook.add": "added a code",
        "codebook.rename": "renamed a code",
        "codebook.redefine": "changed the definition of a code",
        "codebook.merge": "merged codes",
        "codebook.split": "split a code",
        "codebook.move": "moved a code",
        "codebook.retire": "retired a code",
        "codebook.undo": "took back a change of the codebook",
    },
)
