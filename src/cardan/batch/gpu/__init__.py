"""Batches on a GPU: device arrays, memory, models, programs of launches, and the batch itself.

This code was assembled, but not run on a GPU (docs/status.md). Tests run all of it with a fake driver, whose launches
execute the stages' interleaved code on this processor.
"""
