"""Batches on a GPU: device arrays, memory, models, programs of launches, and the batch itself.

Assembled, not run on a GPU (docs/status.md): tests run all of it against a fake of the driver, whose launches execute
the stages' interleaved code on this processor.
"""
