"""Handbook pages: numbers in words, no invented values, and no executed evidence text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lxml import html

from quaestor.base.errors import InputError
from quaestor.publication.handbook.drawings import draw_bars, draw_spark
from quaestor.publication.handbook.records import Entry, Handbook, Measures, Post
from quaestor.publication.handbook.site import HandbookPages


def rendered(book: Handbook) -> dict[str, html.HtmlElement]:
    return {name: html.document_fromstring(text) for name, text in HandbookPages(book)}


def words_of(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().split())


def test_a_code_page_describes_its_numbers_in_words(book: Handbook) -> None:
    whole = rendered(book)["codes/data.html"]
    page = words_of(whole)
    rows = [[words_of(cell) for cell in row] for row in whole.iter("tr")]
    assert "387 posts" in page
    assert "16.1% of all posts in the study" in page
    assert "Half of the posts were viewed 402 times or more (95% interval: 380 to 450.5)." in page
    assert "Half of the accepted answers came within 2.2 hours (95% interval: 1.2 to 3.1 hours)." in page
    assert "Half of the posts had a first answer within 29 minutes." in page
    assert ["tensorflow", "", "279"] in rows
    assert "The share is falling." in page
    assert ["2017", "60", "17.5%"] in rows
    assert "Use when There is no model." in page
    assert "Do not use when A model is trained." in page
    assert "Not known" not in page


def test_the_most_viewed_posts_are_listed_and_the_others_counted(book: Handbook) -> None:
    page = rendered(book)["codes/data-tensor.html"]
    views = [words_of(element) for element in page.xpath("//ol[@class='posts']/li//span[contains(., 'views')]")]
    numbers = [int(view.split()[0].replace(",", "")) for view in views]
    assert len(numbers) == 200
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] == 1325
    assert "200 of 326 posts" in words_of(page)
    assert "and 126 more" in words_of(page)
    first = page.xpath("//ol[@class='posts']/li")[0]
    assert "by anonymous" in words_of(first)
    assert "CC BY-SA 4.0" in words_of(first)
    assert "24 April 2020" in words_of(first)
    assert first.xpath("./a/@href")[0].startswith("https://stackoverflow.com/q/")


def test_a_post_without_numbers_shows_none_and_comes_last(book: Handbook) -> None:
    rows = rendered(book)["codes/training-loss.html"].xpath("//ol[@class='posts']/li")
    assert "score -3" in words_of(rows[0])
    assert "yesterday" in words_of(rows[0])
    assert words_of(rows[1].xpath("./p")[0]) == ""


def test_unknown_measures_are_named_and_left_out(book: Handbook, printed: Handbook) -> None:
    page = words_of(rendered(book)["codes/data-tensor-slice.html"])
    assert (
        "Unknown for this issue: posts, views, score, time to the accepted answer, time to the first answer, "
        "frameworks and years." in page
    )
    assert "No post has this code." in page
    assert "None" not in page
    page = words_of(rendered(printed)["codes/data-tensor.html"])
    assert "Not in the printed study for this object: views, score," in page
    assert "Posts are not part of the printed study." in page


def test_a_handbook_from_printed_figures_says_so_on_every_page_and_has_no_ranking(printed: Handbook) -> None:
    pages = rendered(printed)
    assert all(words_of(page).count(printed.origin_note) >= 2 for page in pages.values())
    assert "popular and hard codes cannot be determined" in words_of(pages["index.html"])


def test_every_page_names_the_origin_of_its_numbers(book: Handbook) -> None:
    assert all(book.origin_note in words_of(page.xpath("//footer")[0]) for page in rendered(book).values())


def test_popular_and_hard_codes_are_above_both_medians_and_sorted_by_difficulty(book: Handbook) -> None:
    def listed(views: float, days: float) -> list[str]:
        home = rendered(replace(book, views_middle=views, days_middle=days))["index.html"]
        rows = home.xpath("//section[@aria-labelledby='hurts-title']//tbody/tr")
        return [words_of(row.xpath("./th/a")[0]) for row in rows]

    assert listed(600.0, 0.4) == ["Loss", "Tensor"]
    assert listed(100.0, 1.0) == ["Loss", "Image"]
    assert listed(9000.0, 1.0) == []


def test_a_handbook_without_counts_or_codes_has_its_main_pages(book: Handbook) -> None:
    bare = replace(book, entries=(Entry("a", "phase", "a", ("a",)),))
    assert "there is no map" in words_of(rendered(bare)["index.html"])
    assert "no codes yet" in words_of(rendered(replace(book, entries=()))["index.html"])
    assert set(rendered(replace(book, entries=(), levels=()))) == {"index.html", "contents.html", "about.html"}


def test_the_contents_list_every_code_under_its_letter(book: Handbook) -> None:
    page = rendered(book)["contents.html"]
    links = page.xpath("//section[contains(@class, 'letter')]//a/@href")
    assert len(links) == len(set(links)) == len(book.entries)
    under_r = page.xpath("//section[h2='R']//a")
    assert [words_of(one) for one in under_r] == ["(reshape/squeeze/flatten) tensor"]
    assert words_of(page.xpath("//section[h2='#']//a[last()]")[-1]) == "数据"


def test_previous_and_next_links_lead_to_neighbouring_codes(book: Handbook) -> None:
    page = rendered(book)["codes/data-image.html"]
    assert page.xpath("//a[@rel='prev']/@href") == ["../codes/data-tensor.html"]
    assert page.xpath("//a[@rel='next']/@href") == ["../codes/data-label.html"]
    crumbs = [words_of(element) for element in page.xpath("//nav[@class='way']//li")]
    assert crumbs == ["Map", "Data processing", "Image"]


def test_a_page_with_many_siblings_links_to_a_few_and_to_the_full_list(book: Handbook) -> None:
    many = [Entry(f"p/{n}", "object", f"object {n}", ("p", f"p/{n}")) for n in range(400)]
    wide = replace(book, entries=(Entry("p", "phase", "p", ("p",)), *many))
    pages = dict(HandbookPages(wide))
    for name in ("codes/p-0.html", "codes/p-200.html", "codes/p-399.html"):
        links = html.document_fromstring(pages[name]).xpath("//nav[@class='neighbours']/ul/li")
        assert len(links) == 13
        assert words_of(links[-1]) == "all 400"


def test_evidence_text_never_becomes_markup(book: Handbook) -> None:
    for name, page in rendered(book).items():
        assert {one.get("src", "").rpartition("/")[2] for one in page.iter("script")} <= {"search.js", "contents.js"}
        assert all(not (one.text or "").strip() for one in page.iter("script"))
        assert not list(page.iter("img", "style", "iframe", "base", "object"))
        for element in page.iter():
            for attribute, value in element.attrib.items():
                assert not attribute.startswith("on"), (name, attribute)
                assert attribute != "style", name
                if attribute in ("href", "src", "action"):
                    assert not value.lower().startswith(("javascript", "data", "//", "/")), value
    loss = rendered(book)["codes/training-loss.html"]
    assert '<script>alert("owned")</script>' in loss.xpath("//ol[@class='posts']/li[1]//bdi")[0].text_content()
    assert "{{ 7 * 7 }}" in words_of(loss)
    assert loss.xpath("//ol[@class='posts']/li[1]/a") == []
    assert all("\x00" not in text and "\ud800" not in text for _, text in HandbookPages(book))


def test_the_title_list_is_a_script_with_strings_only(book: Handbook) -> None:
    script = HandbookPages(book).titles()
    assert script.isascii()
    assert script.startswith("window.handbookTitles = [[")
    assert '["Tensor","codes/data-tensor.html","object in data processing"]' in script


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ((Entry("a", "phase", "a", ("a",)), Entry("a", "phase", "b", ("a",))), "'a' twice"),
        ((Entry("a", "planet", "a", ("a",)),), "'planet'"),
        ((Entry("a", "phase", "a", ()),), "does not end with it"),
        ((Entry("a", "phase", "a", ("b",)),), "does not end with it"),
        ((Entry("a", "object", "a", ("b", "a")),), "has the parent 'b'"),
    ],
)
def test_codes_with_inconsistent_parents_are_refused(book: Handbook, entries: tuple[Entry, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        HandbookPages(replace(book, entries=entries))


@pytest.mark.parametrize("steps", [(), (1.0, 2.0, 3.0), (1.0, 1.0, 2.0, 3.0), (4.0, 3.0, 2.0, 1.0)])
def test_a_map_needs_four_increasing_steps(book: Handbook, steps: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="four increasing numbers"):
        HandbookPages(replace(book, steps=steps))


def test_a_line_of_years_is_drawn_at_its_values() -> None:
    line = draw_spark(Measures(years=((2020, 5, 0.1), (2018, 1, 0.2), (2019, 3, 0.0))))
    assert line is not None
    assert (line.first, line.last, line.by_share) == (2018, 2020, True)
    assert line.points == ((5.0, 5.0), (120.0, 51.0), (235.0, 28.0))
    counts = draw_spark(Measures(years=((2020, 5, None), (2019, 0, 0.2))))
    assert counts is not None
    assert counts.points == ((5.0, 51.0), (235.0, 5.0))
    assert draw_spark(Measures()) is None
    assert draw_spark(Measures(years=((2020, 0, 0.0),))) is not None


def test_bar_lengths_are_proportional_to_counts() -> None:
    assert draw_bars([("a", 8), ("b", 2), ("c", 0)]) == [("a", 8, 100.0), ("b", 2, 25.0), ("c", 0, 0.0)]
    assert draw_bars([("a", 0)]) == [("a", 0, 0.0)]


def test_posts_that_are_not_listed_are_counted(book: Handbook) -> None:
    entry = Entry("a", "phase", "a", ("a",), posts=(Post("so/1", "one"),), posts_total=3)
    assert "and 2 more" in words_of(rendered(replace(book, entries=(entry,)))["codes/a.html"])


def test_the_search_example_is_a_code_of_the_study(book: Handbook) -> None:
    placeholder = rendered(book)["index.html"].xpath("//input[@id='search-text']/@placeholder")[0]
    words = placeholder.removeprefix("Search, for example: ")
    assert words in [entry.name for entry in book.entries]
    empty = rendered(replace(book, entries=()))["index.html"].xpath("//input[@id='search-text']/@placeholder")[0]
    assert empty == "Search"
