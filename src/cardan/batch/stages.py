"""Stages of a batch: between a world's row of the table of states and its data, and for questions to all worlds."""

from __future__ import annotations

from cardan.batch.worlds import NWARNING, read_row, row_size, write_row
from cardan.collision.ray_scene import NGROUP, normal_at, ray_scene
from cardan.dynamics.jacobian import jac
from cardan.jit import OK, stage
from cardan.model.kernel_views import Data, Model
from cardan.step.status import ROLLOUT_FROZEN


@stage
def load_state(m: Model, d: Data) -> int:
    """Set the state from the world's row."""
    read_row(d, d.work.batch_part, d.work.batch_row, 0)
    return OK


@stage
def save_state(m: Model, d: Data) -> int:
    """Write the state to the world's row."""
    write_row(d, d.work.batch_part, d.work.batch_row, 0)
    return OK


@stage
def rollout_inputs(m: Model, d: Data) -> int:
    """Before a step of a rollout: its inputs.

    A world that has raised a warning since the start stops; its remaining records are what it has now.
    """
    count = 0
    for k in range(NWARNING):
        count += d.warning.number[k]
    if count > d.work.batch_warnings or d.work.auto_resets > d.work.batch_resets:
        width = row_size(d.work.batch_record_part)
        for row in range(d.work.batch_step // d.work.batch_every, len(d.work.batch_record) // max(width, 1)):
            write_row(d, d.work.batch_record_part, d.work.batch_record, row * width)
        return ROLLOUT_FROZEN
    at = d.work.batch_step * row_size(d.work.batch_control_part)
    read_row(d, d.work.batch_control_part, d.work.batch_control, at)
    return OK


@stage
def rollout_records(m: Model, d: Data) -> int:
    """After a step of a rollout: a record, every so many steps."""
    d.work.batch_step += 1
    if d.work.batch_step % d.work.batch_every == 0:
        row = d.work.batch_step // d.work.batch_every - 1
        at = row * row_size(d.work.batch_record_part)
        write_row(d, d.work.batch_record_part, d.work.batch_record, at)
    return OK


@stage
def answer_jacobian(m: Model, d: Data) -> int:
    """Jacobians of a point of a body: the question is the point (3) and the body."""
    question = d.work.batch_question
    point, body = (question[0], question[1], question[2]), int(question[3])
    jac(m, d, d.work.batch_jacp, d.work.batch_jacr, point, body)
    return OK


RAY_HEAD, RAY_WIDTH, ANSWER_WIDTH = 2 + NGROUP, 7, 5


@stage
def answer_rays(m: Model, d: Data) -> int:
    """Distances, geoms and normals of rays, five numbers each.

    The question: whether groups count, whether static geoms are seen, which groups are seen (6); then, for each ray,
    point (3), direction (3), excluded body.
    """
    question = d.work.batch_question
    by_group, static = question[0] != 0.0, question[1] != 0.0
    for k in range(NGROUP):
        d.work.ray_group[k] = int(question[2 + k])
    for ray in range(len(d.work.batch_answer) // ANSWER_WIDTH):
        at = RAY_HEAD + RAY_WIDTH * ray
        point = (question[at], question[at + 1], question[at + 2])
        vec = (question[at + 3], question[at + 4], question[at + 5])
        dist, geom = ray_scene(m, d, point, vec, by_group, static, int(question[at + 6]))
        normal = normal_at(m, d, geom, point, vec, dist)
        to = ANSWER_WIDTH * ray
        d.work.batch_answer[to] = dist
        d.work.batch_answer[to + 1] = geom
        for k in range(3):
            d.work.batch_answer[to + 2 + k] = normal[k]
    return OK
