"""The papers' programs as they were run, as far as that can be known, beside the programs that the papers' own pages have."""
