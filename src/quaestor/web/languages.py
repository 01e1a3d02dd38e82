"""What code in a post is written in: said by its author, told by the post's tags, or guessed with caution."""

from __future__ import annotations

import re
from collections.abc import Sequence

PLAIN = ""
_ENOUGH = 4_000
"""Characters that tell the language of the rest."""
_NAMES = {
    "python": "python py py2 py3 python2 python3 python-2.7 python-2.x python-3.x ipython jupyter-notebook",
    "c": "c c++ cpp cc objective-c cuda opencl c++11 c++14 c++17",
    "java": "java kotlin scala groovy c# cs csharp android",
    "javascript": "javascript js typescript ts node.js nodejs jsx tsx tensorflow.js reactjs",
    "go": "go golang rust rs swift",
    "shell": "bash sh shell zsh batch powershell dockerfile docker",
    "r": "r rlang",
    "julia": "julia julia-lang",
    "sql": "sql mysql postgresql sqlite",
    "json": "json",
    "yaml": "yaml yml toml ini",
    "markup": "html xml svg xhtml",
    "lua": "lua torch",
    "traceback": "pytb traceback",
    "console": "console pycon",
    PLAIN: "none text plaintext txt output default",
}
_BY_NAME = {name: language for language, names in _NAMES.items() for name in names.split()}
_FRAMEWORKS = (
    "tensorflow keras pytorch torch theano numpy pandas scikit-learn scipy matplotlib jax caffe mxnet onnx "
    "tensorboard deep-learning machine-learning huggingface"
)
_BY_FRAMEWORK = dict.fromkeys(_FRAMEWORKS.split(), "python")
_CLASS = re.compile(r"(?:^|\s)lang(?:uage)?-([\w.+#-]+)")
_TRACEBACK = re.compile(r'^(?:Traceback \(most recent call last\)|  File "[^"\n]+", line \d)', re.MULTILINE)
_CONSOLE = re.compile(r"^(?:>>> |In \[\d+\]:|\$ \w)", re.MULTILINE)
_LOOKS_LIKE_CODE = re.compile(r"[\w\])] ?=|\w\(|[{};]$|^[ \t]*+(?:import|from|use|using|#include|//|#)\s", re.MULTILINE)
_GUESSES = (
    ("python", re.compile(r"^(?:import [\w.]+|from [\w.]+ import |[ \t]*+def \w+\([^\n]*\):|class \w+[^\n]*:$)", re.M)),
    ("c", re.compile(r"^[ \t]*+#include\b", re.MULTILINE)),
    ("java", re.compile(r"^[ \t]*+(?:public|private) (?:static |final )*(?:class|void|int|String)\b", re.MULTILINE)),
    ("javascript", re.compile(r"^[ \t]*+(?:const|let|var) \w+ ?= ?", re.MULTILINE)),
    ("shell", re.compile(r"\A(?:#!\S*sh\b|(?:sudo |pip3? |conda |apt |docker |git )\S)")),
    ("markup", re.compile(r"\A\s*<(?:\?xml|!doctype|html|[a-z]+[ >])", re.IGNORECASE)),
    ("json", re.compile(r"\A\s*[{\[]\s*\"[^\"\n]*\"\s*[:,]")),
)


def language_of(code: str, classes: str = "", tags: Sequence[str] = ()) -> str:
    """The language to colour code as; plain where nothing speaks for one, since wrong colours mislead."""
    said, code = _said(classes), code[:_ENOUGH]
    if said == PLAIN:
        return PLAIN
    if said in (None, "python"):
        if _TRACEBACK.search(code):
            return "traceback"
        if _CONSOLE.search(code):
            return "console"
    if said is not None:
        return said
    if _LOOKS_LIKE_CODE.search(code) is None:
        return PLAIN
    for known in (_BY_NAME, _BY_FRAMEWORK):
        for tag in tags:
            if known.get(tag.casefold()):
                return known[tag.casefold()]
    return next((language for language, signs in _GUESSES if signs.search(code)), PLAIN)


def _said(classes: str) -> str | None:
    found = _CLASS.search(classes.casefold())
    return _BY_NAME.get(found[1]) if found else None
