"""PyTorch, of the extra `torch`; without it, the import fails with an error that says how to install it."""

from __future__ import annotations

from pbm_envs.toolbox import install_command

try:
    import torch as torch
    from torch import Tensor as Tensor
    from torch import nn as nn
except ImportError:
    raise ImportError(f"networks need PyTorch: {install_command('torch')}") from None


def improve(optimizer: torch.optim.Optimizer, loss: Tensor, limit: float = 1.0) -> None:
    """Take one step down the gradient of a loss, whose norm is limited."""
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], limit)
    optimizer.step()
