"""S6: M. Büttner, NUMA Allocation benchmark for SYCL (2024), copies of a vector by who initialised it."""
