"""Code in colours, by class names alone: one pass over the text, which it never changes.

Every expression takes what it matches for good (possessive), so that time grows with the length of the text and
nothing else; general highlighters take seconds for some short texts that a stranger can write.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape

LONGEST = 20_000
"""Code longer than this is not highlighted."""
CLASSES = frozenset(
    f"code-{name}" for name in ("comment", "keyword", "string", "number", "name", "prompt", "error", "turn")
)
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that turn the direction of what follows, and so can make code read as what it is not."""

_TRIPLE = r'(?:[rbuf]{0,2}+(?:"""(?:[^"\\]++|\\.|"(?!""))*+(?:""")?+' + r"|'''(?:[^'\\]++|\\.|'(?!''))*+(?:''')?+))"
_DOUBLE, _SINGLE = r'"(?:[^"\\\n]++|\\.)*+"?+', r"'(?:[^'\\\n]++|\\.)*+'?+"
_BACKTICK = r"`(?:[^`\\]++|\\.)*+`?+"
_HASH, _SLASHES, _DASHES = r"\#[^\n]*+", r"//[^\n]*+", r"--[^\n]*+"
_BLOCK = r"/\*(?:[^*]++|\*(?!/))*+(?:\*/)?+"
_NUMBER = r"(?<![\w.])(?:0[xX][0-9a-fA-F_]++|\d[\d_]*+(?:\.\d*+)?+(?:[eE][+-]?\d++)?+[jJfFlLuU]?+)"
_WORD = r"[^\W\d]\w*+"
_PROMPT = re.compile(r"(>>> ?|\.\.\. ?|In \[\d+\]: ?|Out\[\d+\]: ?|\$ )")
_FRAME = re.compile(r'(\s*+File )("[^"\n]*+")(, line )(\d++)')
_FAILURE = re.compile(r"[\w.]++(?:(?<=Error)|(?<=Warning)|(?<=Exception)|(?<=Interrupt)|(?<=Exit))(?=[:\s])")

_KEYWORDS = {
    "python": (
        "False None True and as assert async await break class continue def del elif else except finally for from "
        "global if import in is lambda nonlocal not or pass raise return try while with yield"
    ),
    "c": (
        "auto bool break case catch char class const constexpr continue default delete do double else enum extern "
        "false float for friend if inline int long namespace new nullptr operator private protected public return "
        "short signed sizeof static struct switch template this throw true try typedef typename union unsigned "
        "using virtual void while"
    ),
    "java": (
        "abstract boolean break byte case catch char class continue default do double else enum extends false "
        "final finally float for fun if implements import int interface long namespace new null object override "
        "package private protected public return short static string super switch this throw throws true try "
        "using val var void while"
    ),
    "javascript": (
        "async await break case catch class const continue default delete do else export extends false finally "
        "for from function if import in instanceof interface let new null of return super switch this throw true "
        "try type typeof undefined var void while yield"
    ),
    "go": (
        "as break case chan const continue crate default defer else enum false fn for func go guard if impl "
        "import in interface let loop map match mod mut nil package pub range return select self static struct "
        "switch trait true type use var where while"
    ),
    "shell": (
        "case do done echo elif else esac exit export fi for function if in local return set source sudo then while"
    ),
    "r": "FALSE NA NULL TRUE break else for function if in library next repeat return while",
    "julia": (
        "abstract begin break catch const continue do else elseif end export false finally for function global if "
        "import let local macro module mutable quote return struct true try using where while"
    ),
    "sql": (
        "and as asc between by case create delete desc distinct drop else end exists from group having in inner "
        "insert into is join left like limit not null on or order outer select set table then union update values "
        "when where with"
    ),
    "lua": (
        "and break do else elseif end false for function if in local nil not or repeat return then true until while"
    ),
    "json": "false null true",
    "yaml": "false no null true yes",
    "markup": "",
}
_COMMENTS = {
    "python": _HASH, "shell": rf"(?<!\S){_HASH}", "r": _HASH, "julia": _HASH, "yaml": rf"(?<!\S){_HASH}",
    "c": f"{_SLASHES}|{_BLOCK}", "java": f"{_SLASHES}|{_BLOCK}", "javascript": f"{_SLASHES}|{_BLOCK}",
    "go": f"{_SLASHES}|{_BLOCK}", "sql": f"{_DASHES}|{_BLOCK}", "lua": _DASHES, "json": _SLASHES,
    "markup": r"<!--(?:[^-]++|-(?!->))*+(?:-->)?+",
}  # fmt: skip
_STRINGS = {
    "python": f"{_TRIPLE}|[rbufRBUF]{{0,2}}+(?:{_DOUBLE}|{_SINGLE})", "json": _DOUBLE,
    "javascript": f"{_DOUBLE}|{_SINGLE}|{_BACKTICK}", "go": f"{_DOUBLE}|{_BACKTICK}",
}  # fmt: skip
_NAMED = {
    "python": rf"(?<=def\ ){_WORD}|(?<=class\ ){_WORD}|@[\w.]++", "julia": rf"(?<=function\ ){_WORD}|@\w++",
    "javascript": rf"(?<=function\ ){_WORD}|(?<=class\ ){_WORD}", "go": rf"(?<=func\ ){_WORD}|(?<=fn\ ){_WORD}",
    "java": rf"(?<=class\ ){_WORD}|@\w++", "c": rf"^[ \t]*+\#\w++|(?<=class\ ){_WORD}|(?<=struct\ ){_WORD}",
    "shell": r"\$\{?+\w++\}?+", "yaml": r"^[ \t-]*+[\w.-]++(?=:)", "markup": r"</?+[\w:-]++|/?+>",
    "lua": rf"(?<=function\ ){_WORD}",
}  # fmt: skip


def highlight_code(code: str, language: str) -> str:
    """Highlights code as HTML; plain if the language is unknown or the code too long."""
    if len(code) > LONGEST:
        return _escape_plain(code)
    if language == "console":
        return "".join(_colour_prompt_line(line) for line in code.splitlines(keepends=True))
    if language == "traceback":
        return "".join(_line_of_a_traceback(line) for line in code.splitlines(keepends=True))
    return _coloured(code, language) if language in _READERS else _escape_plain(code)


def _coloured(code: str, language: str) -> str:
    reader, keywords = _READERS[language]
    fold = language == "sql"
    parts, end = [], 0
    for match in reader.finditer(code):
        kind, text = str(match.lastgroup), match[0]
        if kind == "word":
            if (text.casefold() if fold else text) not in keywords:
                continue
            kind = "keyword"
        if text:
            parts += [_escape_plain(code[end : match.start()]), _span(kind, text)]
            end = match.end()
    return "".join([*parts, _escape_plain(code[end:])])


def _colour_prompt_line(line: str) -> str:
    prompt = _PROMPT.match(line)
    if prompt is None:
        return _escape_plain(line)
    language = "shell" if prompt[0] == "$ " else "python"
    return _span("prompt", prompt[0]) + _coloured(line[prompt.end() :], language)


def _line_of_a_traceback(line: str) -> str:
    frame = _FRAME.match(line)
    if frame is not None:
        before, file, between, number = frame.groups()
        rest = _escape_plain(line[frame.end() :])
        return _escape_plain(before) + _span("string", file) + _escape_plain(between) + _span("number", number) + rest
    if _FAILURE.match(line):
        return _span("error", line)
    return _coloured(line, "python") if line.startswith("    ") else _escape_plain(line)


def _span(kind: str, text: str) -> str:
    return f'<span class="code-{kind}">{_escape_plain(text)}</span>'


def _escape_plain(text: str) -> str:
    return isolate_directions(escape(text, quote=False))


def isolate_directions(html: str) -> str:
    """Text of code in which what turns its direction reaches no further than its own mark."""
    return _TURNS.sub(lambda match: f'<span class="code-turn">{match[0]}</span>', html)


def _reader(language: str) -> tuple[re.Pattern[str], frozenset[str]]:
    kinds = {
        "comment": _COMMENTS[language],
        "string": _STRINGS.get(language, f"{_DOUBLE}|{_SINGLE}"),
        "name": _NAMED.get(language, ""),
        "number": _NUMBER,
        "word": _WORD,
    }
    pattern = "|".join(f"(?P<{kind}>{expression})" for kind, expression in kinds.items() if expression)
    return re.compile(pattern, re.MULTILINE | re.DOTALL), frozenset(_KEYWORDS[language].split())


_READERS: dict[str, tuple[re.Pattern[str], frozenset[str]]] = {language: _reader(language) for language in _KEYWORDS}
Colour = Callable[[str, str], str]
"""Code and the classes its author gave it, to HTML."""


PLAIN = ""
_ENOUGH = 4_000
"""Characters examined to detect the language."""
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


def detect_language(code: str, classes: str = "", tags: Sequence[str] = ()) -> str:
    """Detects the language of code; none without evidence, because wrong colours mislead."""
    language, code = _read_declared_language(classes), code[:_ENOUGH]
    if language == PLAIN:
        return PLAIN
    if language in (None, "python"):
        if _TRACEBACK.search(code):
            return "traceback"
        if _CONSOLE.search(code):
            return "console"
    if language is not None:
        return language
    if _LOOKS_LIKE_CODE.search(code) is None:
        return PLAIN
    for known in (_BY_NAME, _BY_FRAMEWORK):
        for tag in tags:
            if known.get(tag.casefold()):
                return known[tag.casefold()]
    return next((language for language, signs in _GUESSES if signs.search(code)), PLAIN)


def _read_declared_language(classes: str) -> str | None:
    match = _CLASS.search(classes.casefold())
    return _BY_NAME.get(match[1]) if match else None
