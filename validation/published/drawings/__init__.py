"""The papers' figures, drawn from the pages of the last full runs."""
