"""Where the tests find models of real size: the shared models beside the checkout."""

from __future__ import annotations

from pathlib import Path

SHARED_MODELS = Path(__file__).resolve().parents[2] / "shared" / "models"
