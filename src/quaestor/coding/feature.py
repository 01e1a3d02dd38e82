"""The contributions of coding to a study."""

from __future__ import annotations

from quaestor.coding.round_outcomes import JournalOutcomes
from quaestor.coding.session import open_coding
from quaestor.coding.status import coding_status
from quaestor.study.contributions import ActKind
from quaestor.study.features import Feature

FEATURE = Feature(
    "coding",
    status=coding_status,
    open_session=open_coding,
    round_outcomes=JournalOutcomes,
    act_kinds={
        "rating": ActKind("rated {count} in {round}", counted="item", is_joined=True),
        "practice": ActKind("practised for {round}", is_joined=True),
        "ratings.import": ActKind("imported a file of ratings for {round}", is_joined=True),
        "round.open": ActKind("opened the round {round}"),
        "round.close": ActKind("closed the round {round}"),
        "round.reopen": ActKind("reopened the round {round}"),
        "round.waive": ActKind("waived the threshold of {round}"),
        "round.replace": ActKind("replaced a rater of {round}"),
        "round.deadline": ActKind("set the deadline of {round}"),
        "round.set": ActKind("went on to the next set of {round}"),
        "round.unblind": ActKind("viewed the ratings of {round}"),
        "comment": ActKind("commented on a disagreement of {round}"),
        "tie.comment": ActKind("gave an independent answer in {round}"),
        "decision.propose": ActKind("proposed a decision in {round}"),
        "decision.assent": ActKind("assented to a decision in {round}"),
        "decision": ActKind("settled {count} of {round}", counted="item"),
        "decision.import": ActKind("imported published decisions, {round}"),
        "words.unify": ActKind("unified words of {round}"),
        "words.reread": ActKind("requested another rating of an item of {round}"),
        "words.compare": ActKind("compared the words of a set of {round}"),
        "codebook.import": ActKind("imported the codebook"),
        "codebook.facet": ActKind("added a facet to the codebook"),
        "codebook.add": ActKind("added a code"),
        "codebook.rename": ActKind("renamed a code"),
        "codebook.redefine": ActKind("changed the definition of a code"),
        "codebook.merge": ActKind("merged codes"),
        "codebook.split": ActKind("split a code"),
        "codebook.move": ActKind("moved a code"),
        "codebook.retire": ActKind("retired a code"),
        "codebook.undo": ActKind("undid a change of the codebook"),
    },
)
