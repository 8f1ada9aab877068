"""Write the page on which the games are played without a server: `build/site/play`, which can be hosted as it is.

    make play                                       # builds the modules first, if they are missing
    python -m http.server --directory build/site

The board's scripts and style are those of `pbm serve`, copied; a Web Worker has the table, the rules and the champion.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from html import escape
from pathlib import Path

from boards import BOARDS, OUT
from pbm_agents.play import page
from pbm_agents.play.start import form_picture, friendly_name, game_form, rating

from pbm_envs import make_game

BROWSER, SHARED = Path(__file__).parent, Path(page.__file__).parent
sys.path.append(str(BROWSER.parent / "docs"))
from pictures import filmed_game  # noqa: E402

SITE = OUT.parent / "site" / "play"
SCRIPTS = ("page.mjs", "play-worker.mjs", "table.mjs", "runtime.mjs", "random.mjs", "game.mjs", "champion.mjs")
BUILT = ("code.mjs", "letters.json")
GAME_FILES = ("html", "wasm", "json")
LEVELS = {"Easy": 30, "Medium": 300, "Strong": 3000}
"""The levels of the champion, in simulations."""
SOLVED, WITHOUT_SOLVER = "trinim", ("Easy", "Medium")
"""The champion of Trinim solves most of a game, with any budget: on these levels it only searches."""


def game_page(name: str) -> str:
    """Return the page of one game: that of `pbm serve`, with another script."""
    text = (SHARED / "page.html").read_text(encoding="utf-8")
    text = text.replace('src="page.js"', 'src="page.mjs"').replace("<title>pbm_envs<", f"<title>{title(name)}<")
    return text.replace('<body class="pbm-page">', f'<body class="pbm-page" data-game="{name}">')


def title(name: str) -> str:
    """Return the name of a game for people."""
    return escape(game_form(name)["title"])


def description(name: str) -> str:
    """Return the description of a game's boards, with the levels of the page's opponents."""
    found = json.loads((OUT / f"{name}.json").read_text(encoding="utf-8"))
    agents = {
        level: f"{'mcts' if name == SOLVED and level in WITHOUT_SOLVER else 'champion'}:simulations={simulations}"
        for level, simulations in LEVELS.items()
    }
    found["opponent"] = agents["Medium"]
    found["table"]["form"]["clock"] = False
    found["table"]["form"]["levels"] = [
        {"name": level, "agent": agent, "about": friendly_name(agent), "rating": rating(make_game(name), agent)}
        for level, agent in agents.items()
    ]
    return json.dumps(found, separators=(",", ":"))


def film(name: str) -> str:
    """Return the record of the game that the documentation shows as a film, with short names of its agents."""
    record = json.loads(filmed_game(name).to_json())
    record["agents"] = [agent.partition(",")[0] for agent in record["agents"]]
    return json.dumps(record)


def index() -> str:
    """Return the page with the links to all games."""
    items = "\n".join(
        f'<li><a href="{name}.html"><picture>'
        f'<source media="(prefers-color-scheme: dark)" srcset="{name}-dark.svg">'
        f'<img src="{name}-light.svg" alt=""></picture><strong>{title(name)}</strong></a> '
        f"<p>{escape(game_form(name)['about'])}</p></li>"
        for name in BOARDS
    )
    return (BROWSER / "index.html").read_text(encoding="utf-8").replace("<!-- games -->", items)


def write() -> None:
    """Write the folder."""
    shutil.rmtree(SITE, ignore_errors=True)
    SITE.mkdir(parents=True)
    for name in ("board.css", *page.MODULES):
        shutil.copy(SHARED / name, SITE)
    for name in SCRIPTS:
        shutil.copy(BROWSER / name, SITE)
    for name in BUILT:
        shutil.copy(OUT / name, SITE)
    shared = sorted(path.name for path in SITE.iterdir())
    for name in BOARDS:
        shutil.copy(OUT / f"{name}.wasm", SITE)
        (SITE / f"{name}.json").write_text(description(name), encoding="utf-8")
        (SITE / f"{name}-film.json").write_text(film(name), encoding="utf-8")
        (SITE / f"{name}.html").write_text(game_page(name), encoding="utf-8")
        for theme in ("light", "dark"):
            (SITE / f"{name}-{theme}.svg").write_text(form_picture(name, theme), encoding="utf-8")
    (SITE / "index.html").write_text(index(), encoding="utf-8")
    version = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(SITE.iterdir()))).hexdigest()[:16]
    script = (BROWSER / "offline.js").read_text(encoding="utf-8")
    script = script.replace("@version@", f"pbm-play-{version}").replace('["@files@"]', json.dumps(shared))
    (SITE / "offline.js").write_text(script, encoding="utf-8")
    for name in BOARDS:
        own = sum((SITE / f"{name}.{kind}").stat().st_size for kind in GAME_FILES)
        common = sum((SITE / each).stat().st_size for each in (*shared, "offline.js"))
        print(f"{name}: {own + common:,} bytes with everything, {common:,} of them shared by all games")


if __name__ == "__main__":
    write()
