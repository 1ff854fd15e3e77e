"""How results show themselves in a notebook."""

from html import escape


class NotebookText:
    """A result that a notebook shows as the text that `print` gives, instead of its `repr`.

    >>> class Sum(NotebookText):
    ...     def __str__(self):
    ...         return "1 < 2"
    >>> Sum()._repr_html_()
    '<pre style="white-space: pre-wrap">1 &lt; 2</pre>'
    """

    def _repr_html_(self) -> str:
        return f'<pre style="white-space: pre-wrap">{escape(str(self))}</pre>'
