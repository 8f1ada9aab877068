"""The building blocks of every game: `Game`, state records, boards, notation, symmetries, random streams, kernels."""
