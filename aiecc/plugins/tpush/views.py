"""pipes.txt, pipes.json: every pipe with its slots, flags, addresses and sizes. steps.txt: the steps of every core."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from aiecc.api import Module, Placement, Sink, refuse
from aiecc.plugins.tpush.memories import MEMORIES
from aiecc.plugins.tpush.model import Agent, Cluster, Direction, Pipe, Platform
from aiecc.plugins.tpush.protocol import Protocol
from aiecc.plugins.tpush.size import in_workspace, pipe_bytes, workspaces
from aiecc.plugins.tpush.unroll import streams, worlds

_MASKS = {1: "Cube to Vector", 2: "Vector to Cube", 3: "both directions"}


def facts(cluster: Cluster) -> dict[str, Any]:
    """A cluster whose pipes have been placed, as plain values: what pipes.json shows of it.

    Addresses of A2A3 count from the start of the cluster's workspace in global memory.
    """
    protocol = Protocol(cluster)
    on_chip = cluster.platform is Platform.A5
    return {
        "cube": cluster.cube.name,
        "vector": cluster.vector.name,
        "platform": cluster.platform.value,
        "platform_id": cluster.platform.number,
        "lanes": cluster.lanes,
        "workspaces": [] if on_chip else [{"name": w.name, "size": w.size} for w in workspaces(cluster.pipes)],
        "pipes": [_pipe(protocol, pipe) for pipe in cluster.pipes],
        "reserved": [
            {
                "name": r.name,
                "function": r.function,
                "memory": MEMORIES[cluster.platform][r.space].title,
                "base": r.base,
                "size": r.size,
            }
            for r in cluster.reserves
        ],
    }


def _pipe(protocol: Protocol, pipe: Pipe) -> dict[str, Any]:
    return {
        "id": pipe.id,
        "dir_mask": pipe.dir_mask,
        "slot_size": pipe.slot_size,
        "slot_num": pipe.slot_num,
        "flag_base": pipe.flag_base,
        "bytes": pipe_bytes(pipe),
        "workspace": pipe.workspace or None,
        "rings": [_ring(protocol, pipe, direction) for direction in pipe.directions],
    }


def _ring(protocol: Protocol, pipe: Pipe, direction: Direction) -> dict[str, Any]:
    lanes = protocol.lanes(pipe.id)
    base = pipe.base(direction) or 0
    vectors = [Agent(1 + lane).title for lane in lanes]
    cube = [Agent.CUBE.title]
    homes = [protocol.home(direction, lane) for lane in lanes]
    owners = list(dict.fromkeys(owner.title for _, owner in homes if owner is not None))
    space = homes[0][0]
    memory = MEMORIES[protocol.platform].get(space)
    return {
        "direction": direction.name,
        "producer": cube if direction is Direction.C2V else vectors,
        "consumer": vectors if direction is Direction.C2V else cube,
        "memory": "global memory" if memory is None else memory.title,
        "owner": owners,
        "base": base,
        "size": pipe.ring_size,
        "slots": [
            {"tag": tag, "flag": pipe.flag(direction, tag), "address": base + tag * pipe.slot_size}
            for tag in range(pipe.slot_num)
        ],
    }


def as_json(clusters: Iterable[Cluster]) -> str:
    """pipes.json."""
    return json.dumps({"clusters": [facts(cluster) for cluster in clusters]}, indent=2) + "\n"


def as_text(clusters: Iterable[Cluster]) -> str:
    """pipes.txt."""
    return "\n".join(_text(facts(cluster)) for cluster in clusters)


def _text(found: dict[str, Any]) -> str:
    lanes = "both lanes" if found["lanes"] == 2 else "lane 0"
    lines = [f"@{found['cube']} and @{found['vector']} on {found['platform'].upper()}, {lanes}"]
    for each in found["workspaces"]:
        name = f" '{each['name']}'" if each["name"] else ""
        lines.append(f"  workspace{name} in global memory: {each['size']} bytes a cluster")
    for pipe in found["pipes"]:
        slots = f"{pipe['slot_num']} slots of {pipe['slot_size']} bytes"
        each = " each way" if pipe["dir_mask"] == 3 else ""
        lines.append(f"  pipe {pipe['id']}: {_MASKS[pipe['dir_mask']]}, {slots}{each}, {pipe['bytes']} bytes")
        for ring in pipe["rings"]:
            lines += _ring_text(ring)
    for each in found["reserved"]:
        at = "not placed" if each["base"] is None else f"0x{each['base']:X}"
        lines.append(f"  reserved '{each['name']}' by @{each['function']}: {each['memory']} {at}, {each['size']} bytes")
    return "\n".join(lines) + "\n"


def _ring_text(ring: dict[str, Any]) -> list[str]:
    end = ring["base"] + ring["size"] - 1
    owner = f" of {' and of '.join(ring['owner'])}" if ring["owner"] else ""
    way = f"{' and '.join(ring['producer'])} -> {' and '.join(ring['consumer'])}"
    lines = [f"    {ring['direction']}: {way}, {ring['memory']}{owner} 0x{ring['base']:X}..0x{end:X}"]
    lines.append("      slot  flag  address")
    lines += [f"      {slot['tag']:>4}  {slot['flag']:>4}  0x{slot['address']:X}" for slot in ring["slots"]]
    return lines


# --- steps --------------------------------------------------------------------------------------------------------


def as_steps(clusters: Iterable[Cluster]) -> str:
    """steps.txt: what each core does with pipes, step by step, in a run where trip counts and conditions that only the
    run knows are those of `unroll.worlds`' last run. It ends where the slots have gone round twice."""
    return "\n".join(_steps(cluster) for cluster in clusters)


def _steps(cluster: Cluster) -> str:
    *_, world = worlds(cluster)
    run = streams(cluster, world=world)
    assumed = f" with {world}" if str(world) else ""
    lines = [f"@{cluster.cube.name} and @{cluster.vector.name} on {cluster.platform.value.upper()}{assumed}"]
    first = ", ".join(f"{flag}" for flag in sorted(run.preset))
    lines.append(f"  set at first: {first or 'no flag'}")
    last = {pipe.id: 2 * pipe.slot_num for pipe in cluster.pipes}
    for stream in run.streams:
        lines += ["", f"  {stream.agent.title}"]
        left = 0
        for index, (step, number) in enumerate(zip(stream.steps, stream.messages, strict=True)):
            if number >= last[step.pipe]:
                left += 1
                continue
            where = stream.site(index).where
            line = f"  line {where.line}" if where is not None else ""
            many = f"pipe {step.pipe} " if len(cluster.pipes) > 1 else ""
            lines.append(f"    {many}{step.direction.name} {number:>3}  {step}{line}")
        if left:
            lines.append(f"    and {left} more steps, the same with the same slots")
    return "\n".join(lines) + "\n"


# --- as files -----------------------------------------------------------------------------------------------------


def shown(module: Module, placement: Placement, how: Callable[[list[Cluster]], str]) -> str:
    """The clusters of a module, with all their addresses, as one file."""
    from aiecc.api import load
    from aiecc.plugins.tpush.build import clusters_in, is_ours, placed

    if not is_ours(module):
        refuse("aiecc: the design has no pipes", code="E0901")
    found = [placed(pair, cluster, placement) for pair, cluster in clusters_in(load(module), Sink())]
    return how([in_workspace(cluster) if cluster.platform is Platform.A2A3 else cluster for cluster in found])
