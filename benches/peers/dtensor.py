"""Transitions of an f32 matrix by PyTorch's DTensor over gloo, timed as benches/threads times its own.

    torchrun --standalone --nproc-per-node 4 dtensor.py 2x2 'S0,S1->R,R' 4096 4096 ...

Takes a mesh and triples of transition, rows and columns, and prints a line of JSON for each. DTensor on
CPU carries out a change of the cut dim as all-gather and slice; a second line, "DTensor, all-to-all", has
the same with the all-to-all that DTensor runs on GPUs and gloo has too. Values of one call are compared
with a model before timing.
"""

import json
import logging
import sys
import time

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as collectives
import torch.distributed.tensor.placement_types as placement_types
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

AS_IT_COMES = placement_types.shard_dim_alltoall


def all_to_all(local, gather_dim, shard_dim, mesh, axis):
    group = collectives._group_or_group_name(collectives._resolve_group((mesh, axis)))
    return torch.ops._dtensor.shard_dim_alltoall(local, gather_dim, shard_dim, group)


def placements(side):
    known = {"R": Replicate(), "P": Partial(), "S0": Shard(0), "S1": Shard(1)}
    return [known[place] for place in side.split(",")]


def block(matrix, places, mesh):
    """This rank's block of a matrix."""
    for axis, place in enumerate(places):
        if place.is_shard():
            matrix = matrix.chunk(mesh.size(axis), dim=place.dim)[mesh.get_local_rank(axis)]
    return matrix


def prepare(op, rows, columns, mesh):
    """What to time; element number i is i mod 1009, a term is that plus its number."""
    source, target = (placements(side) for side in op.split("->"))
    matrix = (torch.arange(rows * columns) % 1009).float().view(rows, columns)
    term, terms = 0, 1
    for axis, place in enumerate(source):
        if place.is_partial():
            term, terms = term * mesh.size(axis) + mesh.get_local_rank(axis), terms * mesh.size(axis)
    local = block(matrix, source, mesh) + term
    tensor = DTensor.from_local(local.contiguous(), mesh, source, run_check=False)
    expected = block(matrix * terms + terms * (terms - 1) // 2, target, mesh)
    if not torch.equal(tensor.redistribute(placements=target).to_local(), expected):
        sys.exit(f"{op} of {rows} x {columns}: wrong values")
    return lambda: tensor.redistribute(placements=target)


def sample(call, calls):
    """Microseconds of one of so many calls on the slowest rank."""
    dist.barrier()
    start = time.perf_counter()
    for _ in range(calls):
        call()
    took = torch.tensor([(time.perf_counter() - start) * 1e6 / calls])
    dist.all_reduce(took, op=dist.ReduceOp.MAX)
    return took.item()


def measure(name, op, rows, columns, mesh):
    call = prepare(op, rows, columns, mesh)
    calls = 1
    while sample(call, calls) * calls < 10000:
        calls *= 2
    taken = [sample(call, calls) for _ in range(5)]
    if dist.get_rank() == 0:
        row = {"by": name, "op": op, "mesh": list(mesh.shape), "shape": [rows, columns], "samples_us": taken}
        print(json.dumps(row), flush=True)


def main():
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    shape = [int(length) for length in sys.argv[1].split("x")]
    mesh = init_device_mesh("cpu", shape, mesh_dim_names=("a", "b")[: len(shape)])
    triples = sys.argv[2:]
    for op, rows, columns in zip(triples[::3], triples[1::3], triples[2::3]):
        measure("DTensor", op, int(rows), int(columns), mesh)
        if op in ("S0->S1", "S0,S1->S1,S0"):
            placement_types.shard_dim_alltoall = all_to_all
            measure("DTensor, all-to-all", op, int(rows), int(columns), mesh)
            placement_types.shard_dim_alltoall = AS_IT_COMES
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
