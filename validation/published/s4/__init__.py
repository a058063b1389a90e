"""Wittmann and Hager 2010 (S4): task-parallel Jacobi on three machines."""
