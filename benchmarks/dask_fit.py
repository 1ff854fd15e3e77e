"""NLDD fitted to rows in blocks on a Dask cluster: a rate for each worker, and twenty million rows.

Sparse rows of 50 features, of which 5 are not 0, and 20 labels. They are made on the workers, block
by block, and stay there; so does the index, in shards. Workers are processes of one thread on this
machine: where they are more than its cores, each one has less of them. A rate is the rows by the
seconds of `fit`, for each worker. Two hundred validation instances are paired, because these rows
are all equally far from each other, and no search can leave many out.
"""

import argparse
import logging
import resource
import time

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from measure import Answers
from scipy.sparse import csr_matrix

from nldd.estimators._binary_relevance import BinaryRelevance
from nldd.estimators._nldd import NLDDClassifier

ROWS, BLOCK = 20_000_000, 125_000
SHARE = 0.025  # of the rows, for the rates of 1, 2 and 4 workers
FEATURES, STORED, LABELS = 50, 5, 20
GIGABYTES = 2.5  # of each worker
PAIRS, QUERIES = 200, 200


def make_features(number, n_rows):
    """Rows of one block: a feature of each of five kinds, such as the words of short answers."""
    rng = np.random.default_rng([number, 0])
    kinds = np.arange(0, FEATURES, FEATURES // STORED)
    columns = (kinds + rng.integers(FEATURES // STORED, size=(n_rows, STORED))).astype(np.int32)
    starts = np.arange(0, columns.size + 1, STORED, dtype=np.int32)
    values = rng.normal(size=columns.size)
    return csr_matrix((values, columns.ravel(), starts), shape=(n_rows, FEATURES))


def make_labels(X, number):
    """Labels that depend on the features, a few of them for each row, and on chance."""
    W = np.random.default_rng(0).normal(size=(FEATURES, LABELS))
    noise = np.random.default_rng([number, 1]).logistic(size=(X.shape[0], LABELS))
    return (X @ W + noise / 2 > 4).astype(np.int8)


def make(n_rows):
    """X and Y as Dask arrays; nothing is made before it is needed."""
    sizes = [min(BLOCK, n_rows - start) for start in range(0, n_rows, BLOCK)]
    X, Y = [], []
    for number, size in enumerate(sizes):
        block = dask.delayed(make_features)(number, size)
        labels = dask.delayed(make_labels)(block, number)
        X.append(da.from_delayed(block, (size, FEATURES), meta=csr_matrix((0, FEATURES))))
        Y.append(da.from_delayed(labels, (size, LABELS), dtype=np.int8))
    return da.concatenate(X), da.concatenate(Y)


def most_gigabytes():
    """Most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measure(n_rows, n_workers, answers):
    """All figures of one cluster."""
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            memory_limit=int(GIGABYTES * 10**9),
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.ERROR,
        ) as cluster,
        Client(cluster) as client,
    ):
        BinaryRelevance().fit(*make(5000))  # compiles
        X, Y = client.persist(make(n_rows))
        wait([X, Y])
        where = f"{n_rows:,} rows, {n_workers} worker{'s' * (n_workers > 1)}"

        def add(what, run, n, of):
            start = time.perf_counter()
            result = run()
            taken = time.perf_counter() - start
            rate = f"{n / taken / n_workers:,.0f} {of} a second and worker"
            answers.add(f"{what}, {where}", f"{taken:.1f} s", "", rate)
            return result

        if n_rows < ROWS:  # the classifiers of NLDD take as long
            add("BR fit", lambda: BinaryRelevance().fit(X, Y), n_rows, "rows")
        model = NLDDClassifier(max_pairs=PAIRS, random_state=0)
        add("NLDD fit", lambda: model.fit(X, Y), n_rows, "rows")
        X_new = make_features(n_rows, QUERIES)
        add(f"{QUERIES:,} queries", lambda: model.predict(X_new), QUERIES, "queries")
        most = max(client.run(most_gigabytes).values())
        answers.add(f"most memory of a worker, {where}", f"{most:.1f} GB", f"< {GIGABYTES} GB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    n_rows = parser.parse_args().rows
    answers = Answers("dask_fit" if n_rows == ROWS else "dask_fit-trial")
    for n_workers in (1, 2, 4):
        measure(int(SHARE * n_rows), n_workers, answers)
    measure(n_rows, 4, answers)


if __name__ == "__main__":
    main()
