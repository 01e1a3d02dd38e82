"""The texts of invitations and reminders: a file next to the questionnaire, in which only known placeholders work.

A placeholder stands for the recipient's name, link or columns, or for the title and the last day of the survey. There
is none for an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, localtime, make_msgid, parseaddr
from pathlib import Path
from urllib.parse import urlencode

from pydantic import ValidationError

from quaestor.base.errors import InputError
from quaestor.base.files import write_atomically
from quaestor.base.names import suggest
from quaestor.base.toml import Settings, describe_mistake, read_toml
from quaestor.study.folder import Study
from quaestor.study.settings.schema import MailSettings
from quaestor.surveys.model.question_kinds.link_value import LinkValue
from quaestor.surveys.model.questionnaire_file import Id, Words
from quaestor.surveys.model.records import Questionnaire
from quaestor.surveys.store.recipients import Addressee

INVITATION, REMINDER = "invitation", "reminder"
_ALWAYS = ("name", "link", "opt_out", "title", "closes")
_NEEDED = ("link", "opt_out")
_PLACEHOLDER = re.compile(r"\{([a-z0-9][a-z0-9_-]*)\}")
_STARTER = """\
# The e-mails that `quaestor survey mail` and `quaestor survey remind` send. A text can be one per language, as in the
# questionnaire: subject = { en = "…", de = "…" }. Placeholders: {name}, {link}, {opt_out}, {title}, {closes} (the last
# day), values of the link, and the columns of your table of people that you list here:
columns = []

[invitation]
subject = "Invitation: {title}"
body = \"\"\"
Hello,

we invite you to take part in our survey “{title}”. This link is for you alone:

{link}

If you want no more e-mails about this survey, tell us here:

{opt_out}
\"\"\"

[reminder]
subject = "Reminder: {title}"
body = \"\"\"
Hello,

some time ago we invited you to take part in our survey “{title}”. If you would like to, it is still open:

{link}

If you want no more e-mails about this survey, tell us here:

{opt_out}
\"\"\"
"""


class MailTextSettings(Settings):
    """The texts of one kind of e-mail."""

    subject: Words
    body: Words


class MailFileSettings(Settings):
    """The file with the texts of e-mails."""

    columns: tuple[Id, ...] = ()
    invitation: MailTextSettings
    reminder: MailTextSettings | None = None


@dataclass(frozen=True)
class MailTexts:
    """The texts of the e-mails of a survey, with known placeholders only."""

    file: Path
    columns: tuple[str, ...]
    settings: MailFileSettings | None
    """None without a file."""

    def require(self, kind: str) -> MailTextSettings:
        """Returns the texts of an invitation or a reminder; raises InputError if there are none."""
        texts = getattr(self.settings, kind, None)
        if not isinstance(texts, MailTextSettings):
            raise InputError(f"{self.file} has no [{kind}]: write its subject and body there")
        return texts


def mail_text_file(study: Study, name: str) -> Path:
    # A name with a dot is never a questionnaire.
    return study.root / "instruments" / f"{name}.mail.toml"


def create_mail_texts(study: Study, name: str) -> Path | None:
    """Writes a file with texts to start from; returns None if there is one already."""
    path = mail_text_file(study, name)
    if path.exists():
        return None
    write_atomically(path, _STARTER.encode())
    return path


def read_mail_texts(study: Study, questionnaire: Questionnaire) -> MailTexts:
    """Reads the texts of a survey's e-mails; raises InputError for every other placeholder than the known ones."""
    path = mail_text_file(study, questionnaire.id)
    if not path.exists():
        return MailTexts(path, (), None)
    try:
        settings = MailFileSettings.model_validate(read_toml(path, InputError))
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"] if part not in ("str", "dict[str,str]"))
        raise InputError(f"{path}: {where}: {describe_mistake(problem)}") from None
    for problem_words in _find_problems(settings, questionnaire):
        raise InputError(f"{path}: {problem_words}")
    return MailTexts(path, settings.columns, settings)


def list_placeholders(questionnaire: Questionnaire, columns: Sequence[str]) -> tuple[str, ...]:
    """Returns what a text can contain: nothing that a respondent answered."""
    values = (question.id for question in questionnaire.questions() if question.kind == LinkValue.name)
    return (*_ALWAYS, *(() if questionnaire.anonymous else values), *columns)


def _find_problems(settings: MailFileSettings, questionnaire: Questionnaire) -> Iterator[str]:
    for name in settings.columns:
        question = questionnaire.question(name)
        if name in (*_ALWAYS, "language", "stratum"):
            yield f"columns lists {name!r}, which needs no listing: remove it"
        elif question is not None and question.kind != LinkValue.name:
            yield f"columns lists {name!r}, which is a question, and no answer can be in an e-mail: rename the column"
    known = list_placeholders(questionnaire, settings.columns)
    for kind in (INVITATION, REMINDER):
        texts = getattr(settings, kind)
        for key in ("subject", "body") if texts is not None else ():
            for language, text in _by_language(getattr(texts, key), questionnaire):
                where = f"{kind}.{key}{f' in {language}' if language else ''}"
                yield from _find_text_problems(where, key, text, known, questionnaire)


def _by_language(words: Words, questionnaire: Questionnaire) -> Iterator[tuple[str, str]]:
    if isinstance(words, str):
        yield "", words
        return
    for language in words:
        if language not in questionnaire.languages:
            raise InputError(f"{language!r} is not a language of the survey: add it to survey.languages, or remove it")
    if questionnaire.languages[0] not in words:
        raise InputError(f"a text is missing in {questionnaire.languages[0]!r}, the first language: write it")
    yield from words.items()


def _find_text_problems(
    where: str, key: str, text: str, known: Sequence[str], questionnaire: Questionnaire
) -> Iterator[str]:
    if not text.strip():
        yield f"{where} is empty: write it"
    if key == "subject" and not text.isprintable():
        yield f"{where} contains a line break or a control character: write it in one line"
    for name in _PLACEHOLDER.findall(text):
        if name in known:
            if name == "closes" and not questionnaire.closes:
                yield f"{where} contains {{closes}}, but the survey has no last day: set survey.closes"
            if key == "subject" and name in _NEEDED:
                yield f"{where} contains {{{name}}}, which belongs into the body: move it there"
        elif questionnaire.question(name) is not None:
            yield f"{where} contains {{{name}}}, which is a question: no answer can be in an e-mail"
        else:
            yield f"{where} contains {{{name}}}, which is unknown; choose from: {suggest(name, known)}"
    for name in _NEEDED if key == "body" else ():
        if f"{{{name}}}" not in text:
            yield f"{where} does not contain {{{name}}}: add it"


def find_used_placeholders(texts: MailTextSettings) -> set[str]:
    """Returns the placeholders in the texts of an e-mail, in any language."""
    words = [
        text for part in (texts.subject, texts.body) for text in ([part] if isinstance(part, str) else part.values())
    ]
    return {name for text in words for name in _PLACEHOLDER.findall(text)}


def fill_placeholders(questionnaire: Questionnaire, person: Addressee, address: str) -> dict[str, str]:
    """Returns the value of each placeholder for a person; the questionnaire is in the language of the person."""
    link = f"{address.rstrip('/')}/i/{person.token}"
    values = {
        question.id: person.columns[question.id]
        for question in questionnaire.questions()
        if question.kind == LinkValue.name and person.columns.get(question.id) and not questionnaire.anonymous
    }
    language = {"language": person.language} if person.language else {}
    query = urlencode({**language, **values})
    return {
        **person.columns,
        "name": person.name,
        "link": f"{link}?{query}" if query else link,
        "opt_out": f"{link}/stop?{urlencode(language)}" if language else f"{link}/stop",
        "title": questionnaire.title,
        "closes": questionnaire.closes,
    }


def build_message(
    settings: MailSettings, texts: MailTextSettings, questionnaire: Questionnaire, person: Addressee, address: str
) -> EmailMessage:
    """Builds the e-mail for a person."""
    values = fill_placeholders(questionnaire, person, address)

    def fill(words: Words) -> str:
        text = words if isinstance(words, str) else words.get(person.language) or words[questionnaire.languages[0]]
        # In one pass: braces in a name are not placeholders.
        return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)

    message = EmailMessage(policy=SMTP)
    message["From"] = settings.sender
    message["To"] = Address(person.name, addr_spec=person.address)
    if settings.reply_to:
        message["Reply-To"] = settings.reply_to
    message["Subject"] = " ".join(fill(texts.subject).split())
    message["Date"] = format_datetime(localtime())
    message["Message-ID"] = make_msgid(domain=parseaddr(settings.sender)[1].rpartition("@")[2])
    message["List-Unsubscribe"] = f"<{values['opt_out']}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(fill(texts.body).strip() + "\n", cte="quoted-printable")
    return message


def write_message(message: EmailMessage) -> bytes:
    """Returns an e-mail as a server expects it; headers are not folded, because a long link would be encoded then."""
    return message.as_bytes(policy=SMTP.clone(max_line_length=900))


def merge_row(questionnaire: Questionnaire, person: Addressee, address: str) -> Mapping[str, str]:
    """Returns the cells of a person for a mail-merge file, by column."""
    values = fill_placeholders(questionnaire, person, address)
    return {"e-mail": person.address, "language": person.language or questionnaire.languages[0], **values}
