"""Overview of interviews: the participants, the progress of each interview, and the next steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from quaestor.base.errors import QuaestorError
from quaestor.coding.session import StudyOrSession, find_study
from quaestor.interviews.coding.progress import CODED, NOT_BEGUN, CodingStep, find_coding_stages, find_coding_steps
from quaestor.interviews.model.records import Interview, Participant, describe_participant
from quaestor.interviews.names.matches import Progress, count_progress
from quaestor.interviews.participants.consent import (
    DECLINED,
    ConsentForm,
    ParticipantConsent,
    list_consents,
    read_consent_form,
)
from quaestor.interviews.participants.people import list_reachable
from quaestor.interviews.repository import Interviews, interviews_path, list_guide_files, open_interviews
from quaestor.study.folder import Study

DONE, NOW, LATER = "done", "now", "later"


@dataclass(frozen=True)
class InterviewStep:
    """A step from consent to coding."""

    name: str
    state: str  # done, now, later
    words: str
    route: str = ""
    """The page for this step."""
    round: str = ""
    """The round that this page is about."""


@dataclass(frozen=True)
class InterviewLine:
    """An interview with its steps."""

    interview: Interview
    steps: tuple[InterviewStep, ...]
    stage: str
    """How far it is, from what exists: planned, under way, held, transcribed, being coded or coded."""

    @property
    def untouched(self) -> bool:
        """Whether nothing is recorded about it yet, so that its plan can be cancelled."""
        return self.interview.status == "planned"

    @property
    def next(self) -> InterviewStep | None:
        return next((step for step in self.steps if step.state == NOW), None)


@dataclass(frozen=True)
class PersonLine:
    """A participant with their consent and interviews."""

    participant: Participant
    consent: ParticipantConsent
    interviews: tuple[InterviewLine, ...]
    reachable: bool | None
    """Whether their contact data are known; None for viewers who may not know."""

    @property
    def about(self) -> str:
        return describe_participant(self.participant)


@dataclass(frozen=True)
class InterviewOverview:
    """The overview page."""

    people: tuple[PersonLine, ...]
    withdrawn: dict[str, str]
    guides: tuple[str, ...]
    agreement: ConsentForm | None
    why_no_agreement: str = ""

    @property
    def tally(self) -> list[tuple[str, int]]:
        lines = [line for person in self.people for line in person.interviews]
        counted = [
            ("take part", len(self.people)),
            ("agreed", sum(person.consent.accepted for person in self.people)),
            ("held", sum(line.interview.status == "held" for line in lines)),
            ("transcribed", sum(line.interview.transcript for line in lines)),
        ]
        later = [("coded", sum(line.stage == CODED for line in lines)), ("withdrawn", len(self.withdrawn))]
        return [*counted, *((words, count) for words, count in later if count)]

    @property
    def to_ask_again(self) -> int:
        """How many participants answered an earlier version of the consent form than the one in force."""
        return sum(person.consent.asks_again for person in self.people)


def has_interviews(study: Study) -> bool:
    """Whether there is a guide or a participant."""
    return bool(list_guide_files(study)) or interviews_path(study).exists()


def build_overview(study: Study, interviews: Interviews | None, leads: bool) -> InterviewOverview:
    """Builds the overview; for the lead it tells who has contact data, and the progress of coding."""
    guides = tuple(list_guide_files(study))
    if interviews is None:
        return InterviewOverview((), {}, guides, None)
    try:
        agreement, why = read_consent_form(interviews), ""
    except QuaestorError as error:
        agreement, why = None, str(error)
    lines = _lines(interviews, interviews.interviews(), leads)
    answered, known = list_consents(interviews), list_reachable(interviews) if leads else frozenset()
    people = tuple(
        PersonLine(
            participant,
            answered[participant.pseudonym],
            tuple(line for line in lines if line.interview.participant == participant.pseudonym),
            participant.pseudonym in known if leads else None,
        )
        for participant in interviews.participants()
    )
    return InterviewOverview(people, interviews.file.list_erased(), guides, agreement, why)


def read_overview(study_or_session: StudyOrSession, *, leads: bool = False) -> InterviewOverview:
    """Builds the overview for a command without creating any files."""
    study = find_study(study_or_session)
    if not interviews_path(study).exists():
        return build_overview(study, None, leads=False)
    with open_interviews(study_or_session) as interviews:
        return build_overview(study, interviews, leads)


def build_person_line(interviews: Interviews, pseudonym: str, leads: bool) -> PersonLine:
    """Returns the line of a participant."""
    participant = interviews.participant(pseudonym)
    own_interviews = [interview for interview in interviews.interviews() if interview.participant == pseudonym]
    known = pseudonym in list_reachable(interviews) if leads else None
    return PersonLine(
        participant, list_consents(interviews)[pseudonym], tuple(_lines(interviews, own_interviews, leads)), known
    )


def build_interview_line(interviews: Interviews, name: str, leads: bool) -> InterviewLine:
    """Returns the line of an interview."""
    return _lines(interviews, [interviews.interview(name)], leads)[0]


def _lines(interviews: Interviews, listed_interviews: Sequence[Interview], leads: bool) -> list[InterviewLine]:
    answered = list_consents(interviews)
    coded = find_coding_steps(interviews) if leads else None
    stages = find_coding_stages(interviews)
    return [
        InterviewLine(
            interview,
            _mark_later_steps(_steps(interviews, interview, answered[interview.participant], coded)),
            stages.get(interview.id, "transcribed") if interview.transcript else interview.status,
        )
        for interview in listed_interviews
    ]


def _steps(
    interviews: Interviews, interview: Interview, consent: ParticipantConsent, coded: Mapping[str, CodingStep] | None
) -> Iterable[InterviewStep]:
    """Yields the steps of an interview; all that are not done are marked `now`."""
    yield InterviewStep("Consent", DONE if consent.accepted else NOW, _describe_consent(consent), "participant")
    is_held = interview.status == "held"
    yield InterviewStep(
        "Conversation", DONE if is_held else NOW, _describe_conversation(interview), "interview-conduct"
    )
    words = (
        f"{len(interviews.transcript(interview.id).turns):,} turns" if interview.transcript else "import the transcript"
    )
    yield InterviewStep("Transcript", DONE if interview.transcript else NOW, words, "interview-transcript")
    names = count_progress(interviews, interview.id) if interview.transcript else Progress()
    yield InterviewStep("Names", DONE if names.done else NOW, _describe_names(names), "interview-names")
    if coded is not None:
        coding = coded.get(interview.id, NOT_BEGUN)
        yield InterviewStep("Coding", DONE if coding.done else NOW, coding.words, coding.route, coding.round)


def _mark_later_steps(steps: Iterable[InterviewStep]) -> tuple[InterviewStep, ...]:
    """Marks open steps after the first one as `later`."""
    ordered, waiting = [], False
    for step in steps:
        ordered.append(replace(step, state=LATER) if waiting and step.state == NOW else step)
        waiting = waiting or step.state == NOW
    return tuple(ordered)


def _describe_consent(consent: ParticipantConsent) -> str:
    if consent.what == DECLINED:
        return "declined: no interview unless they agree"
    if not consent.accepted:
        return "link sent: wait for an answer, or record it" if consent.linked else "ask for consent"
    return consent.words


def _describe_conversation(interview: Interview) -> str:
    if interview.status == "planned":
        return "hold the interview with the guide and its clock"
    if interview.status == "under way":
        return f"under way since {interview.day}"
    length = f", {interview.length}" if interview.seconds else ""
    return f"held on {interview.day}{length}" if interview.day else "held, no date is known"


def _describe_names(names: Progress) -> str:
    if names.waiting:
        return f"{names.waiting:,} {'place' if names.waiting == 1 else 'places'} to check"
    if not names.done:
        return "all answered: read the transcript once more" if names.answered else "find names and replace them"
    return f"{names.confirmed:,} replaced by pseudonyms" if names.confirmed else "checked: no names"
