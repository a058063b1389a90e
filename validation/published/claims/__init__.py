"""One table of the papers' claims: what is printed, what the model says, what a null model says, and a verdict by one rule."""
