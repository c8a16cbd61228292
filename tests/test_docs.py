"""Figures in the documentation are those that the benchmarks saved."""

import re

import pytest
from benchmarks import pages
from benchmarks.timing import RESULTS


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_tables_are_those_of_the_results(page):
    text = page.read_text()
    assert pages.with_tables(text) == text, "run: make docs"


def test_each_result_stands_on_a_page():
    mark = re.compile(r"<!-- results: (\w+)(?:, largest \d+)? -->")
    shown = {name for page in pages.PAGES for name in mark.findall(page.read_text())}
    assert shown == {file.stem for file in RESULTS.glob("*.json")}


def test_each_benchmark_is_described():
    known = {file.stem for file in RESULTS.glob("*.json")}
    assert known <= set(pages.COLUMNS), "a file of results without columns"
