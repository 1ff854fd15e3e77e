"""Model files: one checked zip of JSON, arrays and estimators, never pickle."""
