"""LaTeX formulas as one line of Unicode: Greek letters, signs, indices, fractions, roots.

Commands without a sign keep their names. The words of `\\text{…}` are unchanged.
"""

from __future__ import annotations

import re

_SUPERSCRIPTS = dict(
    zip(
        "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ",
        strict=True,
    )
)
_SUBSCRIPTS = dict(zip("0123456789+-=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
_NAMED_SIGNS = (
    "alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π "
    "rho ρ sigma σ tau τ upsilon υ phi φ chi χ psi ψ omega ω varepsilon ε vartheta ϑ varphi φ varrho ϱ varsigma ς "
    "Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω times × cdot · div ÷ pm ± "
    "mp ∓ ast ∗ star ⋆ circ ∘ bullet • le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ equiv ≡ sim ∼ simeq ≃ cong ≅ "
    "propto ∝ ll ≪ gg ≫ infty ∞ partial ∂ nabla ∇ sum ∑ prod ∏ int ∫ iint ∬ oint ∮ forall ∀ exists ∃ in ∈ notin ∉ "
    "ni ∋ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ cup ∪ cap ∩ setminus ∖ emptyset ∅ varnothing ∅ land ∧ wedge ∧ "
    "lor ∨ vee ∨ lnot ¬ neg ¬ to → rightarrow → leftarrow ← gets ← leftrightarrow ↔ Rightarrow ⇒ implies ⇒ "
    "Leftarrow ⇐ Leftrightarrow ⇔ iff ⇔ mapsto ↦ uparrow ↑ downarrow ↓ ldots … cdots ⋯ dots … vdots ⋮ prime ′ "
    "degree ° angle ∠ perp ⊥ parallel ∥ mid | langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ hbar ℏ ell ℓ "
    "oplus ⊕ otimes ⊗ therefore ∴ because ∵ vdash ⊢ top ⊤ bot ⊥ lbrace { rbrace } vert | Vert ‖"
)
_NAMED = _NAMED_SIGNS.split()
_SIGNS = {**dict(zip(_NAMED[::2], _NAMED[1::2], strict=True)), "quad": "  ", "qquad": "    "}
_RELATIONS = frozenset("≤≥≠≈≡∼≃≅∝≪≫∈∉∋⊂⊆⊃⊇→←↔⇒⇐⇔↦±∓×÷∪∩∧∨")
_IGNORED_WORDS = "Big Bigg Bigl Bigr begin big bigg bigl bigr displaystyle end left limits nolimits right textstyle"
_PLAIN_WORDS = (
    "bm boldsymbol boxed mathbb mathbf mathcal mathit mathrm mathsf mathtt mbox operatorname text textbf textit"
)
_IGNORED = frozenset(_IGNORED_WORDS.split())
_PLAIN = frozenset(_PLAIN_WORDS.split())
_ACCENTS = {"hat": "\u0302", "bar": "\u0304", "vec": "\u20d7", "dot": "\u0307", "ddot": "\u0308", "tilde": "\u0303"}
_token = re.compile(r"\\([a-zA-Z]+) ?|\\(.)|([{}^_&])|(\s+)|([^\\{}^_&\s]+)", re.DOTALL)
DEEPEST = 40
"""Maximum nesting depth of braces; a formula that exceeds it is shown as source code."""


def formula_text(source: str) -> str:
    """Return a formula as one line of Unicode. A formula that is nested too deeply is returned as written."""
    tokens = [(match.lastindex or 0, match[match.lastindex or 0]) for match in _token.finditer(source)]
    try:
        return re.sub(r" {2,}", " ", _Reader(tokens).until_end()).strip()
    except _TooDeep:
        return " ".join(source.split())


def superscript(text: str) -> str:
    """Return a text as superscript, or after `^` if it has characters without a superscript form."""
    return _index(text, _SUPERSCRIPTS, "^")  # pyrefly: ignore[bad-argument-type]


def subscript(text: str) -> str:
    """Return a text as subscript, or after `_` if it has characters without a subscript form."""
    return _index(text, _SUBSCRIPTS, "_")  # pyrefly: ignore[bad-argument-type]


def _index(text: str, characters: dict[str, str], sign: str) -> str:
    if text and all(character in characters for character in text):
        return "".join(characters[character] for character in text)
    return f"{sign}{text}" if len(text) <= 1 else f"{sign}({text})"


def _grouped(text: str) -> str:
    return text if len(text) <= 1 or re.fullmatch(r"[\w.]+", text) else f"({text})"


class _TooDeep(Exception):
    """The formula exceeds the maximum nesting depth."""


class _Reader:
    """Reads the tokens of a formula, each with its kind: 1 command, 2 escape, 3 sign, 4 blank, 5 text."""

    def __init__(self, tokens: list[tuple[int, str]]) -> None:
        self._tokens, self._at, self._depth = tokens, 0, 0

    def until_end(self, closing: str = "") -> str:
        parts: list[str] = []
        while self._at < len(self._tokens):
            kind, text = self._tokens[self._at]
            if kind == 3 and text == "}":
                self._at += 1
                if closing:
                    break
                continue
            parts.append(self._next_within_depth())
        return "".join(parts)

    def _next_within_depth(self) -> str:
        self._depth += 1
        if self._depth > DEEPEST:
            raise _TooDeep
        text = self._next()
        self._depth -= 1
        return text

    def _next(self) -> str:
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind == 1:
            return self._command(text)
        if kind == 2:
            return {"\\": "; ", ",": " ", ";": " ", ":": " ", "!": "", " ": " ", "|": "‖"}.get(text, text)
        if kind == 3:
            if text == "{":
                return self.until_end("}")
            if text == "&":
                return " "
            return (superscript if text == "^" else subscript)(self._argument())
        return " " if kind == 4 else text

    def _command(self, name: str) -> str:
        if name in ("frac", "dfrac", "tfrac"):
            return f"{_grouped(self._argument())}/{_grouped(self._argument())}"
        if name == "sqrt":
            degree = self._degree()
            return f"{superscript(degree) if degree else ''}√{_grouped(self._argument())}"
        if name == "binom":
            return f"({self._argument()} choose {self._argument()})"
        if name in _ACCENTS:
            word = self._argument()
            return word + _ACCENTS[name] if len(word) == 1 else f"{name}({word})"
        if name in _PLAIN:
            return self._argument()
        if name in ("begin", "end"):
            self._argument()
            return " "
        if name in _IGNORED:
            return ""
        sign = _SIGNS.get(name)
        if sign is None:
            return f"{name} "
        return f" {sign} " if sign in _RELATIONS else sign

    def _degree(self) -> str:
        """Read the degree of a root, such as `[3]`, or return an empty string."""
        kind, text = self._tokens[self._at] if self._at < len(self._tokens) else (0, "")
        match = re.match(r"\[([^\]]*)\]", text) if kind == 5 else None
        if not match:
            return ""
        rest = text[match.end() :]
        if rest:
            self._tokens[self._at] = (5, rest)
        else:
            self._at += 1
        return match[1]

    def _argument(self) -> str:
        """Read the argument of a command: a group, or one character."""
        while self._at < len(self._tokens) and self._tokens[self._at][0] == 4:
            self._at += 1
        if self._at >= len(self._tokens):
            return ""
        kind, text = self._tokens[self._at]
        if kind == 3 and text == "}":
            return ""
        if kind == 5 and len(text) > 1:
            self._tokens[self._at] = (5, text[1:])
            return text[0]
        return self._next_within_depth().strip()
