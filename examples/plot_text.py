"""
===============
A text pipeline
===============

Texts become numbers by ``TfidfVectorizer``, and the numbers
labelsets by :class:`~nldd.NLDDClassifier`, in one scikit-learn pipeline. This example codes answers
to an open question, shows how well each code is found, and explains a prediction by the answer of
the training data that it comes from.
"""

# %%
# Answers and sets of codes
# -------------------------
# The survey comes with the package. A program made it up; nobody was asked. Labels are given as a
# list with one set of names an answer.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer

from nldd import BinaryRelevance, NLDDClassifier, as_label_sets, load_survey
from nldd.metrics import evaluate

survey = load_survey()
texts = [row[survey.header.index("answer")] for row in survey.rows]
codes = [
    set(row[survey.header.index("codes")].split(";")) for row in survey.rows
]
print(survey.question)
print(f"{texts[1]!r}: {sorted(codes[1])}")

# %%
# Fit and predict
# ---------------
# Parts of words see through endings and typing errors. Rows of tf-idf are of length 1 already, so
# that ``standardize="none"`` leaves them as they are. The pipeline is a classifier like any other.

words = TfidfVectorizer(
    analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True, min_df=2
)
pipeline = make_pipeline(
    words, NLDDClassifier(standardize="none", random_state=0)
)
pipeline.fit(texts[:1000], codes[:1000])
model = pipeline[-1]
print(model.chosen_)

Y_pred = pipeline.predict(texts[1000:])
for text, found in zip(
    texts[1000:1003], as_label_sets(Y_pred[:3], model.label_names_), strict=True
):
    print(f"{text!r}: {', '.join(found)}")

# %%
# How well each code is found
# ---------------------------
# Independent classifiers of the same features, binary relevance (BR), are the yardstick. NLDD
# chooses among sets of codes that people have used, so more answers have all their codes right. It
# gains most on the codes that BR finds worst; one of them, *nothing / don't know*, never stands
# beside another code.

Y_true = MultiLabelBinarizer(classes=model.label_names_).fit_transform(
    codes[1000:]
)
independent = make_pipeline(words, BinaryRelevance("auto", random_state=0))
Y_base = independent.fit(texts[:1000], codes[:1000]).predict(texts[1000:])
for name, Y in (("BR", Y_base), ("NLDD", Y_pred)):
    share = 1 - evaluate(Y_true, Y)["zero_one_loss"]
    print(f"{name}: all codes right in {share:.1%} of the answers")

f = {
    "BR": f1_score(Y_true, Y_base, average=None),
    "NLDD": f1_score(Y_true, Y_pred, average=None),
}
order = np.argsort(f["NLDD"])
fig, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
names = [model.label_names_[i] for i in order]
ax.hlines(names, f["BR"][order], f["NLDD"][order], color="#8c8c8c", zorder=1)
ax.scatter(f["BR"][order], names, color="#8c8c8c", label="BR")
ax.scatter(f["NLDD"][order], names, color="#0072b2", label="NLDD")
ax.set(
    xlabel="F-measure of the code, 500 new answers",
    xlim=(None, 1.01),
    title="Each code, by both methods",
)
ax.grid(axis="x", color="#e3e3e3")
ax.set_axisbelow(True)
ax.spines[["top", "right"]].set_visible(False)
_ = ax.legend(frameon=False, loc="lower right")

# %%
# The answer behind a prediction
# ------------------------------
# ``explain`` names the row of the training data. Here rows are answers, so that the reason can be
# read, and so can the reason for a mistake. Steps before the classifier are applied first.

for number in (1001, 1004):
    explanation = model.explain(pipeline[:-1].transform([texts[number]]))[0]
    print(f"{texts[number]!r}\n{explanation}")
    print(f"  which says {texts[explanation.row]!r}\n")

# %%
# What next
# ---------
# For surveys, :mod:`nldd.coding` does all of this from a table, chooses the features itself, and
# promises an accuracy: :doc:`plot_triage`. Forms in which labels may come are in :doc:`/nldd`.
