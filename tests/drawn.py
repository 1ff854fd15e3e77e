"""What is on a drawn figure: words that overlap, leave the sheet or are too small to read."""

from itertools import combinations
from unittest.mock import patch

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text


def drawn_words(figure):
    """Texts of a figure that are drawn, with their boxes in pixels."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # lays the figure out
    drawn = []
    draw = Text.draw

    def remember(text, renderer):
        drawn.append(text)
        draw(text, renderer)

    with patch.object(Text, "draw", remember):
        canvas.draw()
    words = [text for text in drawn if text.get_visible() and text.get_text().strip()]
    return [(text, text.get_window_extent(canvas.get_renderer())) for text in words]


def assert_legible(figure, smallest=8):
    """No words overlap, none leave the figure, none are smaller than so many points."""
    words = drawn_words(figure)
    width, height = figure.bbox.size
    for text, box in words:
        assert text.get_fontsize() >= smallest, text
        assert box.x0 >= -1 and box.x1 <= width + 1, (text, box)
        assert box.y0 >= -1 and box.y1 <= height + 1, (text, box)
    for (one, box), (other, second) in combinations(words, 2):
        # Boxes have room above and below the letters: shared pixels at the rim are no overlap.
        apart = (
            box.x1 - 2 <= second.x0
            or second.x1 - 2 <= box.x0
            or box.y1 - 2 <= second.y0
            or second.y1 - 2 <= box.y0
        )
        assert apart, (one, other)
