"""Multi-label classifiers, one file a method."""
