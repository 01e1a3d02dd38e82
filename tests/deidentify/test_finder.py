"""Known names are found in every spelling and at the right places, and ordinary words are not taken for names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quaestor.deidentify.contact_patterns import ACCOUNT, EMAIL, TELEPHONE, WEB
from quaestor.deidentify.finder import Finder, group_overlapping
from quaestor.deidentify.folded_text import fold
from quaestor.deidentify.name_forms import ENDINGS, KnownName

ZANTHOR = KnownName("person-1", "person", ("Zanthor Quellix",), "[person 1]")
OBVIAX = KnownName("organisation-1", "organisation", ("Obviax Labs GmbH",), "[organisation A]")
MARK = KnownName("person-2", "person", ("Mark Vexil",), "[person 2]")
MUELL = KnownName("person-3", "person", ("Müllrix Anvara",), "[person 3]")
KNOWN = (ZANTHOR, OBVIAX, MARK, MUELL)
FINDER = Finder(KNOWN)


def find_sure(text: str, finder: Finder = FINDER) -> list[tuple[str, str]]:
    return [(text[match.start : match.end], match.shown) for match in finder.find(text) if match.sure]


def doubted(text: str, finder: Finder = FINDER) -> list[tuple[str, str]]:
    return [(text[match.start : match.end], match.why) for match in finder.find(text) if not match.sure]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I asked Zanthor Quellix.", "Zanthor Quellix"),
        ("ZANTHOR QUELLIX SAID", "ZANTHOR QUELLIX"),
        ("zanthor quellix's idea", "zanthor quellix"),
        ("Quellix’s idea", "Quellix"),
        ("the Quellixes", "Quellixes"),
        ("Zanthors Haus", "Zanthors"),
        ("mit Zanthorem", "Zanthorem"),
        ("Z. Quellix wrote", "Z. Quellix"),
        ("ask Quellix, Zanthor", "Quellix, Zanthor"),
        ("ZanthorQuellix", "ZanthorQuellix"),
        ("zanthor_quellix", "zanthor_quellix"),
        ("see ZQuellix there", "ZQuellix"),
        ("ask @zquellix", "@zquellix"),
        ("as zquellix@obviax has it", "zquellix"),
        ("teamZanthor", "Zanthor"),
        ("Zan\u00adthor", "Zan\u00adthor"),
        ("Zan\u200bthor", "Zan\u200bthor"),
        ("Zan-\nthor", "Zan-\nthor"),
        ("Zanthor\n  Quellix", "Zanthor\n  Quellix"),
        ("Zánthór", "Zánthór"),
        ("Za\u0301nthor", "Za\u0301nthor"),
        ("Ｚａｎｔｈｏｒ", "Ｚａｎｔｈｏｒ"),
        ("🙂Zanthor🙂", "Zanthor"),
        ("שלוםZanthorשלום", "Zanthor"),
        ("Zanthor2", "Zanthor"),
    ],
)
def test_a_person_is_found_however_their_name_is_written(text: str, name: str) -> None:
    assert find_sure(text) == [(name, "[person 1]")]


def test_umlauts_are_found_as_one_letter_and_as_two_and_stems_with_other_endings() -> None:
    text = "Muellrix, MÜLLRIX, Mullrix; o Anvaře, s Anvarou, Anvary"
    assert [words for words, _ in find_sure(text)] == ["Muellrix", "MÜLLRIX", "Mullrix", "Anvaře", "Anvarou", "Anvary"]


def test_organisations_are_found_without_their_legal_form_and_not_by_common_words() -> None:
    assert find_sure("At Obviax Labs, OBVIAX LABS GMBH and obviax-labs") == [
        (words, "[organisation A]") for words in ("Obviax Labs", "OBVIAX LABS GMBH", "obviax-labs")
    ]
    assert doubted("Obviax is large; the labs and labs gmbh") == [("Obviax", "may be a part of it")]


def test_case_decides_for_names_that_are_words_and_other_words_are_proposed_at_most() -> None:
    assert find_sure("Mark said so; I mark it; a bookmark, marked") == [("Mark", "[person 2]")]
    assert doubted("Mark said so; I mark it; a bookmark, marked") == [("mark", "may be an ordinary word")]
    assert doubted("Marked down") == [("Marked", "within another word")]
    short = Finder([KnownName("person-9", "person", ("Li Wo",), "[person 9]")])
    assert find_sure("Li said; like, life, lit", short) == [("Li", "[person 9]")]


@pytest.mark.parametrize(
    ("name", "words"),
    [("Sam Park", "spark Spark SPARK parks"), ("Tom Rain", "train Train"), ("Li Wei", "weil"), ("Zan Quell", "zquell")],
)
def test_initials_joined_to_a_name_are_not_sure_if_they_form_a_word(name: str, words: str) -> None:
    finder = Finder([KnownName("a", "person", (name,), "A")])
    assert find_sure(words, finder) == []
    assert [one for one, _ in doubted(words, finder)] == words.split()
    assert find_sure("train@k, spark@3.2", finder) == []


def test_initials_written_unlike_any_word_are_sure() -> None:
    finder = Finder([KnownName("a", "person", ("Sam Park",), "A")])
    text = "SPark, ParkS, @spark and spark@acme"
    assert [words for words, _ in find_sure(text, finder)] == ["SPark", "ParkS", "@spark", "spark"]


def test_one_wrong_letter_is_a_weaker_proposal() -> None:
    text = "Zanthr, Zanthro, Zantkor, Zannthor and Xantkor"
    assert [words for words, _ in doubted(text)] == ["Zanthr", "Zanthro", "Zantkor", "Zannthor"]


def test_names_are_found_in_scripts_without_spaces_and_after_prefixes() -> None:
    finder = Finder([KnownName("a", "person", ("甲乙",), "A"), KnownName("b", "person", ("זנתור",), "B")])
    assert find_sure("我和甲乙先生说", finder) == [("甲乙", "A")]
    assert find_sure("דיברתי עם זנתור ולזנתור", finder) == [("זנתור", "B"), ("זנתור", "B")]


KIM = KnownName("P1", "person", ("Anna Kim",), "P1")
BAUER = KnownName("P2", "person", ("Anna Bauer",), "P2")
SHARED = Finder([KIM, BAUER, KnownName("P1", "other", ("anna@acme.org", "anna"), "P1")])


def test_a_name_of_two_people_is_replaced_by_both_alternatives_and_a_longer_name_is_not() -> None:
    assert find_sure("Anna, I said; Anna Kim, A. Bauer, Kim", SHARED) == [
        ("Anna", "P1 or P2"), ("Anna Kim", "P1"), ("A. Bauer", "P2"), ("Kim", "P1"),
    ]  # fmt: skip
    (both,) = group_overlapping(SHARED.find_candidates("So said Anna"))
    assert [(one.name, one.shown, one.sure) for one in both] == [("P1", "P1", True), ("P2", "P2", True)]
    near = Finder([KnownName(one, "person", (forms,), one) for one, forms in (("a", "Zanthor A"), ("b", "B Zanthor"))])
    assert [match.shown for match in near.find("Zanthr said")] == ["a or b"]
    initials = Finder([KIM, KnownName("P3", "person", ("Adam Koch",), "P3")])
    assert [match.shown for match in initials.find("as AK said")] == ["P1 or P3"]


def test_an_exact_name_is_preferred_to_one_with_another_ending() -> None:
    finder = Finder([KnownName("a", "person", ("Mario Vexil",), "A"), KnownName("b", "person", ("Maria Brimm",), "B")])
    assert find_sure("Maria, Mario, Marii", finder) == [("Maria", "B"), ("Mario", "A"), ("Marii", "A or B")]


@pytest.mark.parametrize(
    ("name", "sure", "doubtful"),
    [
        ("Anna Kowalska", "Annas Kowalskiej Kowalską", "Anny Annie Annę Ania Aniu"),
        ("Jan Novák", "Jans Novákem Novákovi", "Janem Janovi Jana Janu"),
        ("Pekka Virtanen", "Pekan Pekalle Virtasen Virtaselta Virtaselle", ""),
        ("Иван Петров", "Ивана Петровой Петровым", ""),
        ("Анна Петрова", "Петровой", "Анной Анны"),
    ],
)
def test_short_names_with_endings_are_found_but_not_sure(name: str, sure: str, doubtful: str) -> None:
    finder = Finder([KnownName("a", "person", (name,), "A")])
    assert [words for words, _ in find_sure(sure, finder)] == sure.split()
    assert doubted(doubtful, finder) == [(word, "with an ending") for word in doubtful.split()]
    assert finder.find(doubtful.lower()) == []


@pytest.mark.parametrize(
    ("kind", "name", "written"),
    [
        ("organisation", "Škoda", "Škody Škodě Škodou"),
        ("product", "Лента", "Ленты Лентой"),
        ("person", "Pavel Zanthor", "Pavla Pavlem Pavlovi"),
        ("person", "Marek Zanthor", "Marka Markem"),
        ("person", "Павел Зантор", "Павлом Павла"),
        ("person", "Ewa Kowalska", "Ewę Ewie Kowalskich Kowalskiemu"),
        ("person", "Aino Mäki", "Mäen Mäelle"),
        ("person", "Aino Niemi", "Niemen Niemellä"),
        ("organisation", "Acme Robotics GmbH", "Acme"),
    ],
)
def test_cases_that_change_the_stem_are_proposed_and_not_sure(kind: str, name: str, written: str) -> None:
    finder = Finder([KnownName("a", kind, (name,), "A")])
    assert find_sure(written, finder) == []
    assert [words for words, _ in doubted(written, finder)] == written.split()
    assert finder.find(written.lower()) == []


def test_finnish_surnames_have_their_plural_too_and_an_apostrophe_may_be_left_out() -> None:
    finder = Finder([KnownName("a", "person", (one,), "A") for one in ("Aino Korhonen", "Pat O'Brien")])
    text = "Korhosen, Korhosten, Obrien, OBRIEN and O'Brien"
    assert [words for words, _ in find_sure(text, finder)] == ["Korhosen", "Korhosten", "Obrien", "OBRIEN", "O'Brien"]


def test_a_camel_case_name_is_proposed_if_its_words_are_separate() -> None:
    finder = Finder([KnownName("a", "product", ("TensorBoost",), "A")])
    assert find_sure("TensorBoost, tensorboost, a tensor, a boost", finder) == [
        ("TensorBoost", "A"),
        ("tensorboost", "A"),
    ]
    assert doubted("our tensor boost", finder) == [("tensor boost", "may be an ordinary word")]


ORDINARY_WORDS = """Any One Ice Age Are Use Market Marked Marking Marker """
ORDINARY_WORDS += """January Janitor Annual Annually Announce Annotate Time Times Timer Same Done Line Lines Linear Nine
    Tiny Very They Then There Else Huge Core Mine Care Cared Money Monday Marine Alien Matrix
    Maximum Maxima Tomorrow Benefit Bench Danger Dance Leaning Learning Leave Royal Robust Robot
    Kimono Patch Path Batch Lossy Layer Sample Simple Since Some Something Thesis Theme
    Evaluation Every Even Event Ever Lender Length Less Verify Version Hugging Norm
    Normal None Note Torch Lisp List Listen Rosetta Tinker Corner Corpus Elsewhere Miner Mining
    Noise"""
SHORT_NAMES = """Jan Ann Anna Tim Sam Don Lin Nina Tina Vera Theo Thea Elsa Hugo Cora Mina Cara Mona Mara Ali Mat Max
    Tom Ben Dan Lea Roy Rob Kim Pat Ana Ina Ida Ada Marek Otto Nora Lisa Rosa Eva Lena Som Sim Sin Lou Les"""


def test_ordinary_words_that_begin_like_a_short_name_are_not_names() -> None:
    finder = Finder(KnownName(word, "person", (f"{word} Zanthor",), word) for word in SHORT_NAMES.split())
    assert [*find_sure(ORDINARY_WORDS, finder), *doubted(ORDINARY_WORDS, finder)] == []


def test_all_endings_are_folded_like_texts() -> None:
    assert [ending for ending in ENDINGS if fold(ending) != ending] == []


def test_the_longest_match_wins_and_none_overlap() -> None:
    text = "Zanthor Quellix Quellix of Obviax Labs GmbH"
    assert [words for words, _ in find_sure(text)] == ["Zanthor Quellix", "Quellix", "Obviax Labs GmbH"]
    assert [words for words, _ in find_sure("I asked Zanthor Quellix. Zanthor knew.")] == ["Zanthor Quellix", "Zanthor"]


def test_nothing_is_left_of_two_overlapping_names() -> None:
    both = Finder(
        KnownName(one, "organisation", (one,), "[x]") for one in ("Hollerith Labs", "Labs Northwest Institute")
    )
    assert find_sure("at Hollerith Labs Northwest Institute", both) == [("Hollerith Labs Northwest Institute", "[x]")]
    shop = Finder([KnownName("a", "organisation", ("Foo.com & Sons",), "[x]")])
    assert [words for words, _ in find_sure("ask informationen@Foo.com & Sons", shop)] == [
        "informationen@Foo.com & Sons"
    ]


@pytest.mark.parametrize(
    ("text", "words", "kind", "sure"),
    [
        ("write to some.body+x@example.org.", "some.body+x@example.org", EMAIL, True),
        ("log in as body@10.0.0.1 there", "body@10.0.0.1", EMAIL, False),
        ("some.body (at) example (dot) org", "some.body (at) example (dot) org", EMAIL, True),
        ("see https://example.org/a?b=1).", "https://example.org/a?b=1", WEB, True),
        ("see www.example.org, or", "www.example.org", WEB, True),
        ("see example.org/people/x now", "example.org/people/x", WEB, False),
        ("call +49 (0)89 1234 567 now", "+49 (0)89 1234 567", TELEPHONE, True),
        ("call 0041 44 555 01 99", "0041 44 555 01 99", TELEPHONE, True),
        ("call 555-010-9999", "555-010-9999", TELEPHONE, True),
        ("call (555) 010-9999", "(555) 010-9999", TELEPHONE, True),
        ("call 555 010 9999", "555 010 9999", TELEPHONE, True),
        ("call 044.555.01.99", "044.555.01.99", TELEPHONE, True),
        ("call 044 555.0199", "044 555.0199", TELEPHONE, True),
        ("call +41 44.555 0199", "+41 44.555 0199", TELEPHONE, True),
        ("call me:0170-1234567 now", "0170-1234567", TELEPHONE, True),
        ("Tel.:0170 1234567", "0170 1234567", TELEPHONE, True),
        ("Tel.:555 010 9999", "555 010 9999", TELEPHONE, True),
        ("Tel/0170 1234567", "0170 1234567", TELEPHONE, True),
        ("phone:+49 170 1234567", "+49 170 1234567", TELEPHONE, True),
        ("my phone number is 612 34 56 78", "612 34 56 78", TELEPHONE, True),
        ("call 1-555-234-9999", "1-555-234-9999", TELEPHONE, True),
        ("perhaps 612 34 56 78", "612 34 56 78", TELEPHONE, False),
        ("shape 1 3 224 224", "1 3 224 224", TELEPHONE, False),
        ("shape:32 3 224 224", "32 3 224 224", TELEPHONE, False),
        ("layers 784-256-128-10 then", "784-256-128-10", TELEPHONE, False),
        ("layers 784-300-100-10 then", "784-300-100-10", TELEPHONE, False),
        ("kernels 3 3 128 256", "3 3 128 256", TELEPHONE, False),
        ("layers 256-512-1024", "256-512-1024", TELEPHONE, False),
        ("perhaps 555-1234", "555-1234", TELEPHONE, False),
        ("batches of 16 32 64 128", "16 32 64 128", TELEPHONE, False),
        ("write to zan at ovx dot com.", "zan at ovx dot com", EMAIL, False),
        ("some dot body at mail dot ovx dot org", "some dot body at mail dot ovx dot org", EMAIL, False),
        ("it stands on ovx dot io now", "ovx dot io", WEB, False),
        ("see ovx.example/people/x now", "ovx.example/people/x", WEB, False),
        ("ask @some_body there", "@some_body", ACCOUNT, False),
        ("it is acme.tech now", "acme.tech", WEB, False),
        ("on foo.xyz.", "foo.xyz", WEB, False),
        ("the app.foo.cloud one", "app.foo.cloud", WEB, False),
        ("by ovx.co.jp then", "ovx.co.jp", WEB, False),
        ("see tensorflow.org", "tensorflow.org", WEB, False),
        ("we are at ovx.corp now", "ovx.corp", WEB, False),
        ("our site is ovx.me", "ovx.me", WEB, False),
        ("look for annak.me then", "annak.me", WEB, False),
        ("on t.me/annak.", "t.me/annak", WEB, False),
        ("www ovx.example", "ovx.example", WEB, False),
        ("write ann.lee@acme please", "ann.lee@acme", EMAIL, False),
        ("that is annlee at gmail", "annlee at gmail", EMAIL, False),
        ("some dot body at gmx, yes", "some dot body at gmx", EMAIL, False),
    ],
)
def test_addresses_are_found_by_their_form(text: str, words: str, kind: str, sure: bool) -> None:
    assert [(text[one.start : one.end], one.name, one.sure) for one in FINDER.find(text)] == [(words, kind, sure)]


@pytest.mark.parametrize("written", ["+49 30 901820", "+49 (30) 901820", "+49-30-901820"])
def test_a_known_number_is_replaced_by_its_owner(written: str) -> None:
    finder = Finder([KnownName("P1", "other", ("+49 30 901820",), "P1", "P1")])
    assert find_sure(f"call {written}, then", finder) == [(written, "P1")]
    assert find_sure("call +49 30 901821, then", finder) == [("+49 30 901821", "[telephone number]")]


@pytest.mark.parametrize(
    "text",
    [
        "in 2019-2020",
        "seed:1234567 and run/12345678",
        "on 2024-01-15",
        "version 1.2.3",
        "10.0.0.1",
        "1,000,000 and 1 000 000",
        "model.fit, tf.data",
        "learning rates 0.0001 0.0002 and batch 0.001 0.0005",
        "(0.0001 0.0002)",
        "+0.25 +0.125",
        "+0.0001 0.0002",
        "0.9/0.99/0.999",
        "between 0.0001-0.001",
        "0.0001 – 0.0005",
        "rates 0.01 0.001 16 32",
        "10 20 30 40 50%",
        "10-20 30-40 percent",
        "00 10 20 30 %",
        "2.10.0 2.11.0",
        "1.13.1 2.0.1 0.9",
        "2017 2018 2019",
        "(2017 2018 2019)",
        "10-20 30-40 50-60",
        "100-200 300-400",
        "10000-20000",
        "0,0001 0,0002",
        "look at the dot product",
        "the dot in it",
        "at each dot in the plot",
        "1.5/2.0 or/and",
        "torch.nn, torch.nn.functional, nn.Linear and torch.io",
        "numpy.ndarray, np.ma, np.int, np.at",
        "tf.io, tf.keras.layers, tf.app, keras.backend",
        "train.py, run.sh, main.rs, README.md, notes.txt, model.pt, model.pb, net.onnx, a.js, b.cc",
        "look at train.py, at model.pt, looked at layer.weights, at torch.nn",
        "model.fit(x), model.save, model.to, session.run, plt.show, app.run, model.build, m.group",
        "logger.info, self.name, user.id, os.name, user.email, request.host, df.at, df.info, as et.al say",
        "my_model.cloud, train_step.app, acme.cloud(x), thing.info[0]",
        "self.me, user.me, call.me, t.me, trust.me, it was with.me",
        "it works.No problem.In fact we did.So did they.It is",
        "3.5, v2.0, i.e. or e.g. so, at 3.5",
        "train.py/eval.py and torch.nn/torch.optim",
        "precision@k, recall@10, W@x, Wq@Wk, image@sha256, torch@latest, torch@2.1.0, spark@3.2",
        "I looked at gmail, who worked at yahoo, people at gmail",
    ],
)
def test_numbers_and_code_are_not_addresses(text: str) -> None:
    assert FINDER.find(text) == []


AROUND = st.text(
    st.one_of(st.sampled_from(" \n.,;!?()🙂👩‍💻שלוםعéßﬁ\u0301\u200d-'"), st.characters(codec="utf-8")), max_size=30
)
FORMS = st.sampled_from(
    ["Zanthor Quellix", "Zanthor", "Quellix", "Quellix, Zanthor", "Z. Quellix", "ZanthorQuellix", "zanthor.quellix"]
)
INFLECTED = st.sampled_from(["", "'s", "’s", "'", *sorted(ending for ending in ENDINGS if ending.isascii())])
CASES = st.sampled_from([str, str.upper, str.title])
HIDDEN = st.sampled_from(["", "\u00ad", "\u200b", "\u0301"])


@given(AROUND, FORMS, INFLECTED, CASES, HIDDEN, st.integers(1, 5), AROUND)
@settings(max_examples=400, deadline=None)
def test_a_known_name_inserted_anywhere_is_found_there(
    before: str, form: str, ending: str, case: object, hidden: str, at: int, after: str
) -> None:
    assert callable(case)
    initials = form == "Z. Quellix"
    written = form if initials else case(form)[:at] + hidden + case(form)[at:]
    planted = written + ending
    text = f"{before} {planted} {after}"
    start = len(before) + 1
    covered = {place for match in FINDER.find(text) if match.sure for place in range(match.start, match.end)}
    bare = range(start, start + len(written))
    assert covered.issuperset(place for place in bare if text[place].isalpha()), text


@given(st.text(max_size=80))
@settings(max_examples=200, deadline=None)
def test_matches_are_in_order_and_do_not_overlap(text: str) -> None:
    last = 0
    for one in FINDER.find(text):
        assert last <= one.start < one.end <= len(text)
        last = one.end
