"""The pages: each a module with one function `render`, loaded when it is opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the dashboard."""

    name: str
    """Of its module, and its address; the first page has none."""
    title: str
    icon: str
    section: str
    filtered: bool = True
    """Whether the filter bar stands above it."""

    @property
    def address(self) -> str:
        """What stands in the address bar for it."""
        return "" if self is PAGES[0] else self.name

    @property
    def render(self) -> Callable[[Data], None]:
        """The function that draws it."""
        render: Callable[[Data], None] = import_module(f"{__name__}.{self.name}").render
        return render


PAGES = (
    Page("overview", "Overview", "dashboard", "TLS"),
    Page("cpu_per_transaction", "CPU per transaction", "speed", "TLS"),
    Page("handshakes", "Handshakes", "handshake", "TLS"),
    Page("resumption", "Resumption", "autorenew", "TLS"),
    Page("ciphers", "Ciphers and versions", "enhanced_encryption", "TLS"),
    Page("posture", "Posture and certificates", "security", "TLS"),
    Page("benchmark", "Benchmark", "flag", "Benchmark", filtered=False),
    Page("compare", "Compare runs", "compare_arrows", "Benchmark", filtered=False),
    Page("practices", "Best practices", "checklist", "Benchmark", filtered=False),
    Page("mq_channels", "MQ channels", "sync_alt", "Other systems"),
    Page("zvm_links", "z/VM links", "link", "Other systems", filtered=False),
    Page("ztpf_floods", "z/TPF floods", "flood", "Other systems", filtered=False),
    Page("flood_model", "Flood model", "model_training", "Other systems", filtered=False),
    Page("connections", "Connections", "lan", "Data"),
    Page("cpu", "CPU and LPARs", "memory", "Data"),
    Page("quality", "Data quality and loads", "fact_check", "Data", filtered=False),
    Page("workbench", "SQL workbench", "terminal", "Data", filtered=False),
    Page("fields", "Fields", "menu_book", "Data", filtered=False),
)
