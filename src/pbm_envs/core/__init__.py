"""What every game is made of: `Game`, state records, boards, notation, symmetries, random streams, kernels."""
