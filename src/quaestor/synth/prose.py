"""Sentence patterns of invented questions and answers; braces are filled from the word lists."""

from __future__ import annotations

ASKING = (
    "I am trying to {act} {thing} in {part}, but it fails with {trouble}.",
    "My program has to {act} {thing} {limit}.",
    "So far I have used {tool} and it works for {count} {name}, but not for more.",
    "The value of <code>{name}</code> is correct before the call and wrong after it.",
    "I expected <code>{name}</code> to hold {count} entries, yet I get {trouble}.",
    "I have searched for hours and only found solutions with {tool}.",
    "This happens {limit}, and only there.",
    "When I step through {part}, everything looks fine.",
    "As far as I can tell the problem lies in {part}.",
    "I would prefer a solution without {tool}.",
    "Is there something that I have overlooked in {part}?",
    "The same code worked until last week, when I changed {part}.",
    "I read <a href=\"https://example.org/manual/{name}\">the manual</a>, it does not mention {trouble}.",
    "A colleague suggested {tool}, which did not change anything.",
    "Here is a minimal example of {part}:",
    "What I need in the end is {thing} {limit}.",
    "Any hint would be appreciated.",
    "The input has {count} {name} and looks like this:",
    "Is this a bug, or do I misunderstand {tool}?",
    "I am fairly new to this, so please excuse the naïve question.",
    "The data contains words such as café, Zürich and smörgåsbord, which may matter.",
    "One of the strings is 「こんにちは世界」 and its length comes out wrong.",
    "Some entries contain emoji such as 🙂 or 🚀, and those break first.",
    "It prints <code>{name} = None</code> and then stops &mdash; no further message.",
)  # fmt: skip

ANSWERING = (
    "The problem is in {part}: it is evaluated before <code>{name}</code> is ready.",
    "You can {act} {thing} directly, there is no need for {tool}.",
    "Use {tool} instead, it does exactly what you describe.",
    "This works {limit} as well.",
    "Note that <code>{name}</code> must not be empty, otherwise you get {trouble}.",
    "The reason is that {part} keeps a reference to the old <code>{name}</code>.",
    "I would move that line out of {part} and call it once.",
    "See <a href=\"https://example.org/reference/{name}\">the reference</a> for the details.",
    "If you have to {act} {thing} {limit}, consider {tool}.",
    "I tested it with {count} {name} and it takes less than a second.",
    "Alternatively, keep {tool} and change {part} as follows:",
    "What you see is {trouble}, only reported later than it happens.",
    "In older versions this was different, so check which one you have.",
    "It returns <code>{name}</code> in the order in which they were added.",
    "That said, {tool} is usually the clearer choice.",
    "The short answer is that {part} does not wait for <code>{name}</code>.",
    "Replace <code>{name}</code> by your own variable and it should run.",
    "Hope this helps 🙂",
    "It also handles text such as naïve, Ærøskøbing or 数据 without further steps.",
    "The default is another one {limit}, so set it explicitly.",
)  # fmt: skip

REMARKS = (
    "Could you show {part}, please?",
    "Have you tried {tool}?",
    "This solved it for me, thank you!",
    "It still gives {trouble} {limit}.",
    "What is the type of `{name}` at that point?",
    "Please add the complete error message to the question.",
    "Works, but only {limit}.",
    "I think {tool} would be simpler here.",
    "You are right, the mistake was in {part}. Merci!",
    "Which version do you use? In mine I do not get {trouble}.",
    "@asker {tool} is the usual way to {act} {thing}.",
    "Same problem here with {count} {name} 😕",
)

ITEMS = (
    "start with {part}",
    "{act} {thing}",
    "try {tool} {limit}",
    "print <code>{name}</code> before and after",
    "check for {trouble}",
    "repeat with {count} {name}",
    "compare with <em>{tool}</em>",
)
