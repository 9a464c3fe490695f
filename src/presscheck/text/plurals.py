"""Numbers with their nouns: "1 problem", "1,200 problems"."""


def count(number: int, noun: str, plural: str = "") -> str:
    """A number, with thousands separators, and its noun in the right form.

    Args:
        number: how many.
        noun: the noun in the singular.
        plural: the noun in the plural, where that is not the singular with an s.
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
