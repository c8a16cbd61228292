"""The search of `batch_policy.py` on a GPU: worlds, policies and scores stay there, as torch tensors over live arrays.

Run it with ``python examples/batch_policy_cuda.py``; it needs PyTorch with CUDA and ``pip install 'cardan[cuda]'``.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import cardan

NWORLD, NSTEP, ROUNDS, BEST = 8192, 300, 6, 400


def torch_with_cuda() -> Any:
    """PyTorch; the program ends with a sentence if that, or a GPU, is missing."""
    try:
        torch = import_module("torch")
    except ModuleNotFoundError:
        sys.exit("this example needs PyTorch with CUDA; examples/batch_policy.py does the same on processors")
    if not torch.cuda.is_available():
        sys.exit("there is no GPU that PyTorch can use; examples/batch_policy.py does the same on processors")
    return torch


def returns(torch: Any, batch: Any, policies: Any) -> Any:
    """How long each policy keeps the pole up (nworld,), as a share of all steps; see `batch_policy.py`."""
    batch.reset(stage=cardan.mjtStage.mjSTAGE_NONE)
    qpos, qvel, ctrl = (torch.from_dlpack(array) for array in (batch.qpos, batch.qvel, batch.ctrl))
    qpos[:, 1] = 0.3 * (torch.rand(len(batch), device=qpos.device) - 0.5)
    up = torch.ones(len(batch), dtype=torch.bool, device=qpos.device)
    total = torch.zeros(len(batch), device=qpos.device)
    for _ in range(NSTEP):
        ctrl[:, 0] = (policies * torch.hstack([qpos, qvel])).sum(1)
        batch.step()
        up &= qpos[:, 1].abs() < 0.5
        total += up * (1 - 0.2 * qpos[:, 0].abs())
    return total / NSTEP


def main() -> None:
    """Search, and show how the best policies get better."""
    torch = torch_with_cuda()
    sys.path.insert(0, str(Path(__file__).parent))
    model = cardan.MjModel.from_xml_string(import_module("batch_policy").CART_POLE)
    batch: Any = cardan.Batch(model, NWORLD, device="cuda", dtype="float32")
    mean, spread = torch.zeros(4, device="cuda"), torch.ones(4, device="cuda")
    start = time.perf_counter()
    for k in range(ROUNDS):
        policies = mean + spread * torch.randn(NWORLD, 4, device="cuda")
        scores = returns(torch, batch, policies)
        best = policies[scores.argsort()[-BEST:]]
        mean, spread = best.mean(0), best.std(0) + 0.02
        print(f"round {k + 1:2}: best {scores.max().item():.3f}")
    steps = ROUNDS * NWORLD * NSTEP
    print(f"{steps / (time.perf_counter() - start):,.0f} steps a second; the policy is {mean.cpu().numpy().round(2)}")
    batch.close()


if __name__ == "__main__":
    main()
