"""Themes for anybody but the lead: no known name stands in what codes are called, nor in the addresses of pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from quaestor.study.interviews.masking import masker
from quaestor.study.interviews.room import Interviews
from quaestor.study.interviews.theme_records import CodeUsed, Quotation, Reference, Themes


def unnamed_themes(interviews: Interviews, themes: Themes) -> Themes:
    """Codes and what was added to questions without known names; a code whose name holds one has another id too."""
    mask = masker(interviews)
    names = {one.id: one.name for one in themes.codes} | {one.theme: one.theme_name for one in themes.codes}
    words = {name: mask(name) for name in (*names.values(), *themes.unused, *themes.undecided)}
    named = [code for code, name in names.items() if words[name] != name or mask(code) != code]
    ids = _other_ids(named, names)
    return replace(
        themes,
        codes=tuple(_code(one, ids, words) for one in themes.codes),
        quotations=tuple(_quotation(one, ids) for one in themes.quotations),
        references=tuple(_reference(mask, one, ids) for one in themes.references),
        unused=tuple(words[name] for name in themes.unused),
        undecided=tuple(words[name] for name in themes.undecided),
    )


def _other_ids(named: Iterable[str], taken: Mapping[str, str]) -> dict[str, str]:
    """Every id as it is shown: the one it has, since an id is made of a name, or one that tells nothing."""
    free = (one for number in range(1, 2 * len(taken) + 2) if (one := f"code-{number}") not in taken)
    return {code: code for code in taken} | {code: next(free) for code in named}


def _code(one: CodeUsed, ids: Mapping[str, str], words: Mapping[str, str]) -> CodeUsed:
    return replace(one, id=ids[one.id], name=words[one.name], theme=ids[one.theme], theme_name=words[one.theme_name])


def _quotation(one: Quotation, ids: Mapping[str, str]) -> Quotation:
    called = one.id.removesuffix(one.code) + ids[one.code]
    return replace(one, id=called, code=ids[one.code], theme=ids[one.theme])


def _reference(mask: Callable[[str], str], one: Reference, ids: Mapping[str, str]) -> Reference:
    items = tuple(replace(item, codes=tuple(ids.get(code, code) for code in item.codes)) for item in one.items)
    return replace(one, items=items, others=tuple((mask(words), who) for words, who in one.others))
