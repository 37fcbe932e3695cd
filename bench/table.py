"""Tables for terminals and for pasting."""

from collections.abc import Sequence


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A title and aligned columns; the first is a name, the others are figures."""
    cells = [[_text(value) for value in row] for row in [head, *rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    print(f"\n{title}")
    for index, row in enumerate(cells):
        name, *figures = row
        parts = [name.ljust(widths[0])]
        parts += [figure.rjust(width) for figure, width in zip(figures, widths[1:], strict=True)]
        print("  ".join(parts).rstrip())
        if index == 0:
            print("  ".join("-" * width for width in widths))


def _text(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,.2f}" if isinstance(value, float) else str(value)
