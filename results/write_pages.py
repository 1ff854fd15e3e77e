"""Write all tables, numbers and pictures of the pages that are made from records.

``make results`` does it, here and for the measurements of ``benchmarks``.
"""

import calibration
import chance
import choice
import far_values
import frequencies
import marks
import page
import posterior
import promise
import r_e1071
import repeats
import review
import spread

STUDIES = (
    page,
    posterior,
    r_e1071,
    far_values,
    promise,
    chance,
    calibration,
    spread,
    repeats,
    choice,
    frequencies,
    review,
)


def main() -> None:
    """Fill the marks of each page with what the studies make of their records."""
    texts: dict[str, str] = {}
    for study in STUDIES:
        texts |= study.tables()
        pictures = study.pictures() if hasattr(study, "pictures") else {}
        for name, figure in pictures.items():
            marks.save_light(figure, marks.DOCS / f"{name}.svg")
    filled = set()
    for path in {marks.DOCS / f"{name}.md" for study in STUDIES for name in study.PAGES}:
        filled.update(names := marks.names(path))
        marks.fill(path, {name: texts[name] for name in names})
    if unused := texts.keys() - filled:
        raise ValueError(f"No page has a mark for {', '.join(sorted(unused))}.")


if __name__ == "__main__":
    main()
