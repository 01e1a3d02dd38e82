"""What changed between two versions of a codebook."""

from __future__ import annotations

from quaestor.coding.records import ACTIVE, MERGED, RETIRED, SPLIT, WITHDRAWN, Code, Codebook, Difference

_ENDS = {MERGED: "merged", SPLIT: "split", RETIRED: "retired", WITHDRAWN: "withdrawn"}
_DEFINED_BY = ("definition", "use", "not_", "examples", "colour", "key", "across")


def differences(before: Codebook, after: Codebook) -> list[Difference]:
    """In the order of the later version; a code that differs in several ways is named once for each."""
    found = [
        Difference(facet.id, "facet added", after=" → ".join(facet.levels))
        for facet in after.facets.values()
        if facet.id not in before.facets
    ]
    for code in after.codes.values():
        old = before.codes.get(code.id)
        if old is None:
            if code.active:
                found.append(Difference(code.id, "added", after=after.path_name(code.id)))
            continue
        found += _of_code(before, after, old, code)
    for code in before.codes.values():
        if code.id not in after.codes and code.active:
            found.append(Difference(code.id, "withdrawn", before=before.path_name(code.id)))
    return found


def _of_code(before: Codebook, after: Codebook, old: Code, new: Code) -> list[Difference]:
    found = []
    if old.status != new.status:
        what = "restored" if new.status == ACTIVE else _ENDS[new.status]
        end = new.into or (", ".join(part.id for part in after.codes.values() if part.active and part.origin == new.id))
        found.append(Difference(new.id, what, before=before.path_name(old.id), after=end))
    if old.name != new.name:
        found.append(Difference(new.id, "renamed", old.name, new.name))
    if old.parent != new.parent:
        found.append(Difference(new.id, "moved", old.parent, new.parent))
    changed = [name.rstrip("_") for name in _DEFINED_BY if getattr(old, name) != getattr(new, name)]
    if changed:
        found.append(Difference(new.id, "redefined", after=", ".join(changed)))
    return found
