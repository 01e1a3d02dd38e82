"""A survey in one language: every word of its pages is in it, from start to payment, and from right to left too."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page
from starlette.testclient import TestClient
from tests.support.answering import asking, begun, fields_on, send, sent_again
from tests.support.desk import browser as visitor
from tests.support.desk import post
from tests.support.small_survey import NAME, fielded, small_survey
from tests.support.windows import serving, width_of

from quaestor.study.folder import open_study
from quaestor.surveys.invitations import invite
from quaestor.surveys.lifecycle import close_survey, open_surveys
from quaestor.surveys.model.wording.catalogue import read_texts

WHOLE = """
[survey]
title = "Modelle"
languages = ["de"]
minutes = 3
contact = "studie@uni.example.org"
strata = ["alle"]
closes = "2100-01-01"

[pay]
amount = 10
currency = "EUR"

[[pages]]
page = "ja"
questions = [{ id = "consent", kind = "consent", text = "Zustimmung?" }]

[[pages]]
page = "zwei"
questions = [
    { id = "nutzt", kind = "yes-no", text = "Genutzt?" },
    { id = "jahre", kind = "number", text = "Jahre?", required = true, high = 9 },
    { id = "warum", kind = "single", text = "Warum?", options = ["Darum", "Deshalb"], show_if = "nutzt = yes" },
]

[[pages]]
page = "drei"
questions = [
    { id = "raster", kind = "matrix", text = "Wie oft?", options = ["Nie", "Oft"], rows = ["Absturz", "Fehler"] },
    { id = "folge", kind = "ranking", text = "Rangfolge?", options = ["Tempo", "Umfang"] },
    { id = "wort", kind = "long-text", text = "Worte?" },
]
"""
ARABIC = """
[survey]
title = { ar = "كيف تنتقل النماذج", en = "How models travel" }
languages = ["ar", "en"]
about = { ar = "أي الأدوات تنقل النموذج، وأين تكمن الصعوبة.", en = "Which tools carry a model." }
minutes = 4
contact = "study@uni.example.org"

[pay]
amount = 10
currency = "USD"

[[pages]]
page = "consent"
questions = [{ id = "consent", kind = "consent", text = "هل توافقون على المشاركة؟" }]

[[pages]]
page = "you"
title = "عنكم"

[[pages.questions]]
id = "level"
kind = "single"
text = "ما مستوى خبرتكم؟"
required = true
options = [
    { code = "new", label = "مبتدئ", description = "أقل من سنة من العمل مع النماذج." },
    { code = "old", label = "خبير", description = "سنوات عديدة من العمل." },
    { code = "other", label = "غير ذلك", text = true },
]

[[pages.questions]]
id = "years"
kind = "number"
text = "منذ كم سنة؟"
unit = "سنة"

[[pages.questions]]
id = "met"
kind = "matrix"
text = "كم مرة واجهتم ما يلي؟"
options = [{ code = "never", label = "أبدًا" }, { code = "some", label = "أحيانًا" }, { code = "often", label = "كثيرًا" }]
rows = [{ code = "crash", label = "تعطل" }, { code = "wrong", label = "نتائج خاطئة" }]
"""


def english_in(page: str) -> list[str]:
    """Keys of the English texts that appear on a page, even in part, and differ in German."""
    text = html.unescape(" ".join([*re.findall(r'aria-label="([^"]*)"', page), re.sub(r"<[^>]*>", " ", page)]))
    text = re.sub(r"\s+", " ", text)
    german = read_texts("de")
    found = []
    for key, said in read_texts("en").items():
        pieces = [piece.strip(" :.'") for piece in re.split(r"\{\w+\}", said)]
        pieces = [piece for piece in pieces if len(piece) > 1 and piece not in german[key]]
        if any(re.search(rf"(?<!\w){re.escape(piece)}(?!\w)", text) for piece in pieces):
            found.append(key)
    return found


def test_english_texts_on_a_page_are_detected(tmp_path: Path) -> None:
    with asking(tmp_path) as app, closing(visitor(app)) as opened:
        assert {"withdraw-link", "own-address", "next", "page-of", "contact", "agree"} <= set(
            english_in(opened.get(begun(opened)).text)
        )


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[TestClient]:
    small_survey(tmp_path, WHOLE, "later")
    with asking(tmp_path, WHOLE) as app, closing(visitor(app)) as one:
        one.headers["accept-language"] = "de-CH,de;q=0.9,en;q=0.5"
        yield one


def test_a_german_survey_contains_no_english_texts(opened: TestClient, tmp_path: Path) -> None:
    link = begun(opened, "de")
    seen = {"start": opened.get(f"/s/{NAME}"), "consent": opened.get(link)}
    send(opened, link, {"q.consent": ["agree"]})
    seen["wrong"] = send(opened, link, {"q.nutzt": ["yes"], "q.jahre": ["12"]})
    seen["required"] = send(opened, link, {"q.nutzt": ["yes"]})
    send(opened, link, {"q.nutzt": ["yes"], "q.jahre": ["3"]})
    seen["one more"] = opened.get(link)
    send(opened, link, {"q.nutzt": ["yes"], "q.jahre": ["3"], "q.warum": ["darum"]})
    own = fields_on(opened.get(link).text)
    seen["last"] = sent_again(opened, link, own, {"q.folge.tempo.rank": ["1"], "q.folge.umfang.rank": ["1"]})
    seen["asks"] = opened.get(f"{link}/withdraw")
    assert sent_again(opened, link, own, {"q.raster.absturz": ["oft"]}).headers["location"] == f"{link}/end"
    seen["end"] = opened.get(f"{link}/end")
    seen["late"] = sent_again(opened, link, own, {"q.raster.absturz": ["nie"]})
    way = re.search(r'href="(/claim/[^"]+)"', seen["end"].text)
    assert way
    seen["claim"] = opened.get(way[1])
    for number, said in enumerate(("x@example.org", "x", "")):
        again = {"address": said, "again": said if number else "y@example.org"}
        seen[f"no address {number}"] = post(opened, way[1], again)
    post(opened, way[1], {"address": "x@example.org", "again": "x@example.org"})
    seen["claimed"] = opened.get(way[1])
    for end, form in (("declined", {"q.consent": ["decline"]}), ("gone", {})):
        other = begun(opened, "de")
        send(opened, other, form)
        if end == "declined":
            seen[end] = opened.get(f"{other}/end")
        else:
            seen[end] = sent_again(opened, f"{other}/withdraw", {}, {})
            seen["nothing"] = opened.get(other)
    seen |= {path: opened.get(path) for path in ("/s/nothing", "/i/nothing", f"/claim/{NAME}/nothing", "/s/later")}
    with open_surveys(open_study(tmp_path)) as surveys:
        made = invite(surveys, NAME, "first", "alle", count=1)[0]
    seen["invited"] = opened.get(f"/i/{made.token}")
    post(opened, f"/i/{made.token}", {})
    seen["used"] = opened.get(f"/i/{made.token}")
    with open_surveys(open_study(tmp_path)) as surveys:
        close_survey(surveys, NAME)
    seen["closed"] = opened.get(f"/s/{NAME}")
    assert {name: english_in(page.text) for name, page in seen.items() if english_in(page.text)} == {}
    assert {name for name, page in seen.items() if '<html lang="de">' not in page.text} == set()
    told = {"/s/nothing", "/i/nothing", f"/claim/{NAME}/nothing", "/s/later", "nothing"}  # of no survey at all
    for name, page in seen.items():
        title = "Umfrage" if name in told else "Modelle"
        assert re.search(rf'<header class="asking[^>]*>.*<(p|h1)>{title}</\1></header>', page.text), name
        assert re.search(rf"<title>[^<]*{title}</title>", page.text), name
        assert "How models travel" not in page.text, "the title of the study is not for respondents"


def test_untranslated_texts_of_a_custom_language_are_marked_as_english(tmp_path: Path) -> None:
    text = WHOLE.replace('languages = ["de"]', 'languages = ["he"]') + '\n[words.he]\nbegin = "להתחיל"\n'
    with asking(tmp_path, text) as app, closing(visitor(app)) as one:
        page = one.get(f"/s/{NAME}").text
    assert '<html lang="he" dir="rtl">' in page
    assert '<button class="forward">להתחיל</button>' in page
    assert '<li><span lang="en" dir="ltr">It takes about 3 minutes.</span></li>' in page


@pytest.mark.parametrize(
    ("settings", "before", "below"),
    [
        ("", "come-back", "anew"),
        ("by_invitation = true", "invitation-once", "used-up"),
        ("by_invitation = true\nanonymous = false", "invitation-leads-back", "invitation-too"),
    ],
)
def test_every_respondent_is_shown_how_to_return(tmp_path: Path, settings: str, before: str, below: str) -> None:
    text = WHOLE.replace('languages = ["de"]', f'languages = ["en"]\n{settings}')
    texts = read_texts("en")
    with asking(tmp_path, text) as app, closing(visitor(app)) as one:
        start = f"/s/{NAME}"
        if settings:
            with open_surveys(open_study(tmp_path)) as surveys:
                start = f"/i/{invite(surveys, NAME, 'first', 'alle', count=1)[0].token}"
        assert texts[before] in one.get(start).text
        link = post(one, start, {}).headers["location"] if settings else begun(one)
        page = one.get(link).text
    footer = page.partition("<footer")[2]
    assert f"<p>{texts['own-address']}</p>" in footer.partition("<details")[0], "in sight without a click"
    assert f"<p>{texts[below]}</p>" in footer
    assert f"http://127.0.0.1{link}</p>" in footer


@pytest.mark.browser
def test_a_right_to_left_survey_works_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    texts = read_texts("ar")
    with fielded(tmp_path, ARABIC):
        pass
    with serving(tmp_path) as address:
        page = browser.new_page(viewport={"width": 320, "height": 700}, color_scheme="dark")
        page.goto(f"{address}s/{NAME}?language=en")
        assert page.evaluate("document.dir") == ""
        follow(page, page.get_by_role("link", name="العربية"))
        looked(page, "light")
        follow(page, page.get_by_role("button", name=texts["begin"]))
        looked(page, "dark")
        page.get_by_label(texts["agree"], exact=True).check()
        follow(page, page.get_by_role("button", name=texts["next"]))
        page.get_by_label("منذ كم سنة؟").fill("abc")
        follow(page, page.get_by_role("button", name=texts["send"]))
        looked(page, "light")
        assert texts["look-again-at"].partition("(")[0].strip() in page.get_by_role("alert").inner_text()
        description = page.get_by_text("أقل من سنة")
        description.click()
        radio, words = page.get_by_label("مبتدئ").bounding_box(), description.bounding_box()
        assert radio is not None
        assert words is not None
        assert radio["x"] > words["x"] + words["width"], "the words stand to the left of the button"
        page.get_by_label("منذ كم سنة؟").fill("3")
        follow(page, page.get_by_role("button", name=texts["send"]))
        looked(page, "dark")
        follow(page, page.get_by_role("link", name=texts["to-pay"]))
        looked(page, "light")
        page.close()


def follow(page: Page, link: Locator) -> None:
    with page.expect_navigation():
        link.click()


def looked(page: Page, scheme: str) -> None:
    """The page is from right to left, fits, and everybody can use it."""
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    assert page.evaluate("[document.documentElement.lang, document.dir]") == ["ar", "rtl"]
    assert width_of(page) <= 320
    violations = Axe().run(page).response["violations"]
    assert [(violation["id"], [node["html"] for node in violation["nodes"]][:2]) for violation in violations] == []
