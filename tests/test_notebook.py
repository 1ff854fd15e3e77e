"""Results as a notebook shows them: the text that `print` gives, escaped."""

from html import unescape

import numpy as np
import pytest

from nldd.estimators._nldd import NLDDClassifier


@pytest.fixture(scope="module")
def model():
    X = np.random.default_rng(0).normal(size=(60, 2))
    names = np.array(["<b>right</b>", "up & away"])
    return NLDDClassifier(None, random_state=0).fit(X, [set(names[x > 0]) for x in X])


def test_notebook_shows_the_regression(model):
    page = model.regression_._repr_html_()
    assert unescape(page.removesuffix("</pre>").partition(">")[2]) == str(model.regression_)


def test_notebook_shows_names_of_labels_as_text(model):
    (why,) = model.explain([[2.0, 2.0]])
    page = why._repr_html_()
    assert "labelset {&lt;b&gt;right&lt;/b&gt;, up &amp; away}" in page
    assert page.count("<") == 2  # of <pre> and </pre>
