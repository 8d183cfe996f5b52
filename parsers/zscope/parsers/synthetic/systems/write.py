"""Making the sample of the other systems: its files, and a manifest with what a reader should find."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zscope.parsers.synthetic.systems.channels import QueueManager
from zscope.parsers.synthetic.systems.files import SYSTEMS, systems_files
from zscope.parsers.synthetic.systems.plan import declared, floods, link_cases, round_trips

if TYPE_CHECKING:
    from collections.abc import Callable

    from zscope.parsers.synthetic.systems.plan import LinkCase

MANIFEST = "manifest.json"


def write_systems(seed: int, folder: Path, tell: Callable[[str], None]) -> dict[str, Any]:
    """Write the files into a folder, and say what is in them; `tell` hears of every file."""
    made = {}
    for name, content in systems_files(seed):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        made[name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        tell(f"{path}: {len(content):,} bytes")
    manifest = {
        "synthetic": True,
        "notes": ["synthetic data, made by zscope; no figure comes from a real system"],
        "zscope_version": version("zscope"),
        "seed": seed,
        "systems": SYSTEMS,
        "files": made,
        "mq": _mq(seed),
        "zvm": [_link(case) for case in link_cases()],
        "ztpf": [
            {
                "run": flood.run.name,
                "sessions": flood.sessions,
                "peak_ecbs": flood.peak_ecbs,
                "idle_ecbs": flood.idle_ecbs,
            }
            for flood in floods()
        ],
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="ascii")
    return manifest


def _mq(seed: int) -> dict[str, Any]:
    """Mean round trips by arrangement, and what the tasks and channels of one queue manager add up to."""
    manager = QueueManager("MQ5A", "MQA1", "MQ5B", seed)
    served: Counter[str] = Counter()
    messages: Counter[str] = Counter()
    for used in round_trips():
        for task in manager.tasks(used):
            served[task["task_type"]] += task["requests"]
        for channel in manager.channels(used):
            messages[f"{channel['cipher_code']:04X}"] += channel["messages"]
    return {
        "round_trips": [
            {
                "message_bytes": used.message_bytes,
                "cipher": used.cipher,
                "sslrkeyc": used.sslrkeyc,
                "round_trip_us": round(used.round_trip_us, 3),
            }
            for used in round_trips()
        ],
        "requests_by_task": dict(served),
        "messages_by_cipher": dict(messages),
    }


def _link(case: LinkCase) -> dict[str, Any]:
    per_s = (case.write_bytes_per_s + case.read_bytes_per_s) / declared()["zvm"]["scaling"]
    return {
        "run": case.run.name,
        "etr": per_s,
        "tcpu_s": {name: round(s, 3) for name, s in case.tcpu_s.items()},
    }
