"""Metzger, Cole and Fensch 2018 (S0): placements, pinning, balancing and work distribution of stencils on two machines."""
