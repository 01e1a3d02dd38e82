"""Writes an interview guide as the file that it would be parsed from."""

from __future__ import annotations

from collections.abc import Iterator

import tomlkit

from quaestor.base.errors import InputError
from quaestor.interviews.model.guide_file import FENCE, OPTIONAL, parse_guide
from quaestor.interviews.model.records import Guide, GuideQuestion, GuideSection


def guide_text(guide: Guide) -> str:
    """The text from which the same guide is read; raises InputError where no text says all of it."""
    text = "\n".join([*_front(guide), *(line for section in guide.sections for line in _section(section))]) + "\n"
    if parse_guide(text, guide.id) != guide:
        raise InputError(f"the guide {guide.id!r} cannot be written: a text in it reads as a heading, a note or a list")
    return text


def _front(guide: Guide) -> Iterator[str]:
    yield FENCE
    minutes = int(guide.minutes) if guide.minutes == int(guide.minutes) else guide.minutes
    front = {"title": guide.title, "minutes": minutes, "agreement": guide.agreement, "language": guide.language}
    yield tomlkit.dumps({**front, **({"research": dict(guide.research)} if guide.research else {})}).rstrip()
    yield FENCE


def _section(section: GuideSection) -> Iterator[str]:
    marks = [f"#{section.id}", f"minutes={_number(section.minutes)}", *([f".{section.part}"] if section.part else [])]
    yield from ("", f"# {section.title} {{{' '.join(marks)}}}")
    if section.script:
        yield from ("", section.script)
    if section.note:
        yield from ("", *_note(section.note))
    for question in section.questions:
        yield from _question(question)


def _question(question: GuideQuestion) -> Iterator[str]:
    marks = [f"#{question.id}", f".{question.asks}", *([f".{OPTIONAL}"] if question.optional else [])]
    if question.research:
        marks.append(f"research={','.join(question.research)}")
    yield from ("", f"## {question.text} {{{' '.join(marks)}}}")
    yield from _note(question.note) if question.note else ()
    yield from (f"- {probe}" for probe in question.probes)
    yield from (f"- [ ] {item.label} {{#{item.code}}}" for item in question.items)
    if question.other:
        yield "- [ ] other"


def _note(words: str) -> Iterator[str]:
    return (f"> {line}".rstrip() for line in words.split("\n"))


def _number(value: float) -> str:
    return repr(value).removesuffix(".0")
