"""Conversion of formulas on published pages to MathML, which adds no other elements."""

from __future__ import annotations

import re
import time
from html import escape

import pytest

from presscheck.service.web.html.formulas import LONGEST, MOST, with_formulas

BROKEN = ("{{{", r"\frac" * 300, "{" * 1900, r"\left(" * 300, r"\begin{matrix}" * 100, "x" * (LONGEST + 1))


def inline(latex: str) -> str:
    return with_formulas(f'<p><code class="formula">{escape(latex)}</code></p>')


def test_formula_is_converted_to_mathml() -> None:
    assert inline(r"\frac{a}{b} < \sqrt{2}") == (
        '<p><math display="inline"><mrow><mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac><mo>&lt;</mo>'
        "<msqrt><mrow><mn>2</mn></mrow></msqrt></mrow></math></p>"
    )
    assert with_formulas('<pre class="formula">x</pre>').startswith('<math display="block">')
    assert with_formulas("<p><code>x</code></p>") == "<p><code>x</code></p>"


@pytest.mark.attack("scripts in content")
@pytest.mark.parametrize(
    "latex",
    [
        r"\text{<script>alert(1)</script>}",
        r"\text{&lt;img src=x onerror=alert(1)&gt;}",
        r"\href{javascript:alert(1)}{x}",
        r"\style{position:fixed;inset:0}{x}",
        r'\class{a" onclick="alert(1)}{x}',
        r'\color{red" onclick="alert(1)}{x}',
        r"\rule{9999em}{9999em}",
        r"\hspace{99999em}x",
        r"\includegraphics{https://evil.example/x.png}",
        r"\operatorname{<b onmouseover=alert(1)>}",
    ],
)
def test_formula_adds_only_mathml_elements(latex: str) -> None:
    tags = re.findall(r"<[^<>]*>", inline(latex))
    for tag in tags:
        assert re.fullmatch(
            r"</?(?:p|m[a-z]+)(?: display=\"inline\"| mathcolor=\"\w+\"| (?:fence|stretchy)=\"\w+\")*>", tag
        ), tag


@pytest.mark.parametrize("latex", BROKEN)
def test_invalid_formula_stays_as_source(latex: str) -> None:
    assert inline(latex) == f'<p><code class="formula">{escape(latex)}</code></p>'


def test_formulas_of_a_page_are_converted_up_to_a_limit() -> None:
    formula = '<code class="formula">' + "x" * 1000 + "</code>"
    began = time.process_time()
    page = with_formulas(formula * 100)
    assert page.count("<math") == MOST // 1000 and page.count(formula) == 100 - MOST // 1000
    assert time.process_time() - began < 3
