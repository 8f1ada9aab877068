"""Double buffering: two environments of half the games; one plays while the network reads the other's planes."""

from concurrent.futures import ThreadPoolExecutor

import torch
from pbm_agents.learning.network import PolicyValueNetwork
from torch.distributions import Categorical

from pbm_envs import chameleon_v0


def play(halves, choose, steps, seed=1):
    """So many steps of both environments; `choose` is called with tensors that nothing changes until it returns."""
    with ThreadPoolExecutor(1) as network:  # compiled rules and PyTorch both run without Python's lock
        waiting = []
        for k, envs in enumerate(halves):
            observations, info = envs.reset(seed=seed + k * envs.num_envs)
            waiting.append(network.submit(choose, observations, info["action_mask"]))
        for _ in range(steps):
            for k, envs in enumerate(halves):
                actions = waiting[k].result()  # done with this half: its buffers may be overwritten
                observations, _, _, _, info = envs.step(actions)
                waiting[k] = network.submit(choose, observations, info["action_mask"])  # while the other half steps
        return [one.result() for one in waiting]


def policy(network, device):
    """Actions drawn by the network; on a GPU one copy from pinned memory, during which the CPU goes on."""

    @torch.no_grad()
    def choose(observations, masks):
        observations = observations.to(device, non_blocking=True)
        logits, _ = network(observations, masks.to(device, non_blocking=True).bool())
        return Categorical(logits=logits, validate_args=False).sample().cpu()  # waits for the GPU

    return choose


def run(games=256, steps=100, size=5):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    settings = {"size": size, "buffers": "torch", "copy": False, "pin_memory": device == "cuda"}
    halves = [chameleon_v0.vector_env(games // 2, **settings) for _ in range(2)]
    network = PolicyValueNetwork(halves[0].game).to(device)
    play(halves, policy(network, device), steps)
    return halves


if __name__ == "__main__":
    run()
