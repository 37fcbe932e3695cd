"""Measurements: each module is a command that prints a table. Two busy cores give ratios, not
absolute times; what is compared is therefore measured side by side, in one run."""
