"""S5: C. Bauer, Julia for High-Performance Computing (HLRS 2024), 2D diffusion on two sockets."""
