"""Fails where a public class name is defined in two modules: one name, one meaning.

python -m tests.support.check_class_names
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict

from tests.support.paths import ROOT

ALLOWED: dict[str, str] = {}
"""By class name, why two modules may define it; at most ten."""
MOST_ALLOWED = 10


def find_repeated_names() -> dict[str, list[str]]:
    """Returns each public class name that several modules define, with the modules."""
    modules = defaultdict(list)
    source = ROOT / "src"
    for file in sorted(source.rglob("*.py")):
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(".".join(file.relative_to(source).with_suffix("").parts))
    return {name: where for name, where in modules.items() if len(where) > 1}


def main() -> int:
    repeated = find_repeated_names()
    unexplained = {name: where for name, where in repeated.items() if name not in ALLOWED}
    for name, where in sorted(unexplained.items()):
        print(f"class {name} has several meanings, rename all but one: {', '.join(where)}")
    for name in sorted(ALLOWED.keys() - repeated.keys()):
        print(f"class {name} is defined once: remove it from ALLOWED")
    if len(ALLOWED) > MOST_ALLOWED:
        print(f"{len(ALLOWED)} class names are allowed twice, at most {MOST_ALLOWED}: rename some")
    return bool(unexplained or ALLOWED.keys() - repeated.keys() or len(ALLOWED) > MOST_ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
