"""Networks in ONNX Runtime (extra `onnx`): exported from PyTorch, then evaluated in the search without it.

    export_onnx(PolicyValueNetwork.load("network.pt"), "network.onnx")          # needs the extra `torch` too
    Search(simulations=200, parallel_simulations=16, evaluator=OnnxEvaluator("network.onnx"))
    make_agent("mcts:simulations=200,parallel_simulations=16,network=network.onnx")

One call of ONNX Runtime, in one thread, evaluates all leaves of a batch of simulations. Compiled kernels do the rest:
canonical forms, masks, softmax, and values by seat.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Ints, Mask, Planes, Seeds, check_range, kernel
from pbm_envs.foreign import check_array, parse_object, registered_game
from pbm_envs.toolbox import Array, Floats, import_extra, in_one_piece

from .onnx_files import check_model, seal
from .training_data import form_weights, symmetry_tables, unanswered

if TYPE_CHECKING:
    from .network import PolicyValueNetwork

FORMAT = "pbm_agents.learning.onnx_evaluator 1"
INPUT, OUTPUTS = "observations", ["logits", "values"]
LOGARITHMS = np.log2(1 + np.arange(128)).astype(np.float32)
"""Logarithms of the numbers of an observation: 0 and 1 stay, counts are compressed."""


def export_onnx(network: PolicyValueNetwork, path: str | Path) -> None:
    """Write a network to a file for `OnnxEvaluator`, atomically.

    Args:
        network: A network with any torso that PyTorch can export.
        path: The file to write; an existing file is replaced.

    Raises:
        ImportError: The extra `onnx` is not installed.
    """
    onnx = import_extra("onnx", "exporting networks needs ONNX", "onnx,torch")
    import torch

    game = network.game
    rows, cols, planes = game.observation_shape
    training, device = network.training, network.device
    network.eval().cpu()
    with in_one_piece(path) as part:
        try:
            torch.onnx.export(
                network.module,
                (torch.zeros(2, planes, rows, cols),),
                str(part),
                input_names=[INPUT],
                output_names=OUTPUTS,
                dynamic_axes={name: {0: "batch"} for name in (INPUT, *OUTPUTS)},
                dynamo=False,
            )
        finally:
            network.train(training).to(device)
        model = onnx.load(part)
        about = {"format": FORMAT, "game": game.name, "options": json.dumps(dict(game.options))}
        onnx.helper.set_model_props(model, about | {"symmetric": json.dumps(bool(network.settings["symmetric"]))})
        part.write_bytes(seal(model.SerializeToString()))


@kernel
def symmetric_inputs(
    observations: Planes, weights: Ints, places: Ints, logarithms: Floats, planes: int, which: Ints, out: Floats
) -> None:
    """Write the canonical form of each observation that the network sees, planes first.

    Args:
        observations: (R, rows x cols x planes) int8.
        weights: (2, rows x cols x planes, S) as in `PolicyValueNetwork`.
        places: (S, rows x cols x planes) as in `PolicyValueNetwork`.
        logarithms: LOGARITHMS.
        planes: The number of planes.
        which: (R,) is overwritten with the symmetry of each.
        out: (R, planes x rows x cols) float32 is overwritten.
    """
    count, size = places.shape
    sums = np.empty((2, count), np.int64)
    cells = size // planes
    for i in range(len(observations)):
        best = 0
        if count > 1:
            sums[:] = 0
            for k in range(size):
                number = int(observations[i, k])
                if number:
                    for s in range(count):
                        sums[0, s] += number * weights[0, k, s]
                        sums[1, s] += number * weights[1, k, s]
            for s in range(1, count):
                if sums[0, s] * 2**25 + sums[1, s] > sums[0, best] * 2**25 + sums[1, best]:
                    best = s
        which[i] = best
        for cell in range(cells):
            for plane in range(planes):
                number = observations[i, places[best, cell * planes + plane]]
                out[i, plane * cells + cell] = logarithms[number]


@kernel
def write_answers(
    logits: Floats,
    given: Floats,
    which: Ints,
    actions: Ints,
    rows: Ints,
    movers: Ints,
    masks: Mask,
    priors: Floats,
    values: Floats,
) -> None:
    """Write priors, a softmax over the legal actions, and values by seat, which sum to 0.

    Args:
        logits: (R, A) logits of the network for the canonical forms.
        given: (R, P) values of the network, in turn order from the player to move.
        which: (R,) the symmetry of each.
        actions: (S, A) the action that each action becomes.
        rows: (R,) the row of each position in masks, priors and values.
        movers: (R,) the player to move in each.
        masks: (B, A) legal actions.
        priors: (B, A) is overwritten in these rows.
        values: (B, P) likewise.
    """
    players = given.shape[1]
    for i in range(len(rows)):
        row, names = rows[i], actions[which[i]]
        highest, total, mean = -np.inf, 0.0, 0.0
        for a in range(len(names)):
            if masks[row, a]:
                highest = max(highest, float(logits[i, names[a]]))
        for a in range(len(names)):
            if masks[row, a]:
                share = np.exp(logits[i, names[a]] - highest)
                priors[row, a] = share
                total += share
            else:
                priors[row, a] = 0
        for a in range(len(names)):
            priors[row, a] /= total
        for k in range(players):
            mean += given[i, k] / players
        for k in range(players):
            values[row, (movers[i] + k) % players] = min(1.0, max(-1.0, given[i, k] - mean))


@final
class OnnxEvaluator:
    """An evaluator for `Search` from a file of `export_onnx`; faster than `PolicyValueNetwork.evaluator`."""

    gives_priors = True
    answers_are_checked = True

    def __init__(self, path: str | Path, *, threads: int = 1) -> None:
        """Load a file.

        Args:
            path: A file written by `export_onnx`.
            threads: Threads of ONNX Runtime. More than one helps only large networks.

        Raises:
            ValueError: The file holds no such network.
            ImportError: The extra `onnx` is not installed.
        """
        check_range("threads", threads, 1)
        try:
            self._model = Path(path).read_bytes()
        except OSError as error:
            raise ValueError(f"{str(path)!r} cannot be read: expected a file of export_onnx ({error})") from None
        self._open(str(path), threads, trial=True)

    def _open(self, name: str, threads: int, *, trial: bool) -> None:
        onnxruntime = import_extra("onnxruntime", "networks in ONNX Runtime need it", "onnx")
        if trial:
            check_model(self._model, name)
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads, settings.inter_op_num_threads = threads, 1
        settings.log_severity_level = 3
        self._name, self._threads = name, threads
        try:
            self._session: Any = onnxruntime.InferenceSession(self._model, settings, providers=["CPUExecutionProvider"])
            about = self._session.get_modelmeta().custom_metadata_map
        except Exception as error:  # ONNX Runtime has classes of its own
            reason = str(error).partition("\n")[0][:200]
            raise ValueError(f"{name!r} is not a network: expected a file of export_onnx ({reason})") from None
        if about.get("format") != FORMAT:
            raise ValueError(f"{name!r} is not from export_onnx: expected a file that it has written")
        try:
            self.game = registered_game(about["game"], parse_object(about["options"], "options of a game"))
            self._prepare(about["symmetric"] == "true")
        except (KeyError, ValueError) as error:
            raise ValueError(f"{name!r} is not a network of this version of pbm_envs: {error}") from None

    def _prepare(self, symmetric: bool) -> None:
        numbers, _ = symmetry_tables(self.game)
        actions = np.array([symmetry.actions for symmetry in self.game.symmetries], np.int64)
        self._places = np.ascontiguousarray(numbers if symmetric else numbers[:1]).astype(np.int64)
        self._actions = actions if symmetric else actions[:1]
        self._weights = form_weights(self._places).astype(np.int64)

    def __call__(
        self, game: Game, states: Array, masks: Array, seeds: Seeds, last_player_by_action: Array | None
    ) -> tuple[Array, Array]:
        """Evaluate as `Evaluator` specifies."""
        rows, priors, values = unanswered(self.game, game, states, masks)
        if len(rows):
            movers = states["to_move"][rows].astype(np.int64)
            height, width, planes = game.observation_shape
            observations = game.observe(game.view(states[rows], movers)).reshape(len(rows), -1)
            seen = np.empty((len(rows), planes, height, width), np.float32)
            which = np.empty(len(rows), np.int64)
            flat = seen.reshape(len(rows), -1)
            symmetric_inputs(observations, self._weights, self._places, LOGARITHMS, planes, which, flat)
            logits, given = self._run(seen)
            logits = check_array(logits, "logits of the network", (len(rows), game.num_actions))
            given = check_array(given, "values of the network", (len(rows), game.num_players))
            write_answers(logits, given, which, self._actions, rows, movers, masks, priors, values)
        return priors, values

    def _run(self, seen: Floats) -> tuple[Any, Any]:
        """Return the network's logits and values, unchecked, for inputs (R, planes, rows, cols)."""
        try:
            logits, values = self._session.run(OUTPUTS, {INPUT: seen})
        except Exception as error:  # ONNX Runtime has classes of its own
            reason = str(error).partition("\n")[0][:200]
            raise ValueError(f"the network {self._name!r} failed on input {seen.shape}: {reason}") from None
        return logits, values

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._model, self._name, self._threads)


def _restored(model: bytes, name: str, threads: int) -> OnnxEvaluator:
    """Return an unpickled evaluator, which opens a new session because sessions cannot be pickled."""
    evaluator = OnnxEvaluator.__new__(OnnxEvaluator)
    evaluator._model = model
    evaluator._open(name, threads, trial=False)
    return evaluator
