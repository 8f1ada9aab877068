"""Small games and their public trees, built once."""

from functools import cache

from pbm_agents.equilibrium import PublicTree

from pbm_envs import Curio

SMALL = {"base": 2, "rows": 2, "cols": 3}
HIDDEN = SMALL | {"face": "small", "capture": "gt", "turn": False, "reveal_captured": False}
"""Much stays hidden."""


def curio(plies=1, **options):
    return Curio(**{**SMALL, "no_capture_limit": plies, **options})


VARIANTS = {
    "plain": curio(1),
    "longer": curio(2),
    "hidden": Curio(**HIDDEN, no_capture_limit=2),
    "resignation": curio(1, allow_resign=True),
    "faces at random": curio(1, face="random", capture="lt"),
    "totals": curio(1, face="small", capture="ge_total", turn=False),
    "hidden totals": curio(2, capture="gt_total", turn=False, reveal_captured=False),
    "any": curio(1, capture="any", limit=False),
}


@cache
def tree(name="plain"):
    return PublicTree.build(VARIANTS[name])
