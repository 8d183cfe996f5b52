"""AT-TLS policies of a world, and the messages about its failed handshakes.

Each application with TLS has a rule, with the names of the NETSTAT displays. A rule of low priority overlaps
the rules of two services, and unprotected services have no rule. Half of the systems have a report of
pasearch, the others a policy file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zscope.parsers.text.attls.messages_write import daemon_lines, message_lines
from zscope.parsers.text.attls.pasearch_write import pasearch_lines
from zscope.parsers.text.attls.policy_file_write import policy_file_lines
from zscope.parsers.text.capture_writer import SyslogWriter, as_bytes
from zscope.samples.dump.connections import FAILED
from zscope.samples.dump.site import STACK
from zscope.samples.reports.displays import (
    GROUP_IDS,
    GROUPS,
    LocalClock,
    environment_action,
    role_of_end,
    rule_name,
)
from zscope.samples.reports.files import LABEL, ReportFile
from zscope.samples.world.services import (
    ADDRESSES,
    FIRST_RUN_SERVICE,
    SERVICES,
    SUITES,
    other_suites,
    suite_weights,
)
from zscope.samples.world.world_connections import WorldConnections, seen_by
from zscope.samples.world.world_displays import connection_rows, local_clock
from zscope.samples.world.world_recipe import CLIENTS, NAMES, SYSTEMS, WORLD_SYSTEMS, WorldRecipe, moment
from zscope.schemas import cipher_suites

if TYPE_CHECKING:
    from zscope.parsers.smf.codecs.base import ByteRows
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.world.world_scenario import Service

Row = dict[str, Any]

_PRIORITY = 400
_INSTALLED_BEFORE_US = 6 * 3_600_000_000
_SHOWN_AFTER_US = 60_000_000
OVERLAPPING = "OTHER_Server~9"
_FAILURES = (
    (402, "Initial Handshake"),
    (5003, "Initial Handshake"),
    (8, "Initial Handshake"),
    (406, "Initial Handshake"),
)
"""Return codes of failed handshakes with their events, in turn."""
_ON_CONSOLE = 2
"""Every second failure is also in SYSLOG, as with Trace 3."""
_TRACE = "3"


def policy_rows(
    recipe: WorldRecipe, system: int, *, report: bool, is_changed: bool
) -> tuple[list[Row], list[Row]]:
    """Return the rules and the actions of a system; `report` is true for the form of pasearch.

    The policy of the servers changes: they accept no key exchange with RSA any more, and keep sessions for
    longer.
    """
    calls = system < CLIENTS
    applications: dict[str, list[Service]] = {}
    for service in SERVICES:
        if service.is_protected:
            applications.setdefault(service.caller if calls else service.job, []).append(service)
    rules = [
        _rule(system, job, services, _PRIORITY - 10 * number)
        for number, (job, services) in enumerate(applications.items())
    ]
    actions = list(_group_rows(GROUPS[_role(system)], "On"))
    if not calls:
        rules.append(
            {
                "rule_name": OVERLAPPING, "rule_priority": 1, "direction": "Inbound",
                "local_ports": "443-447", "group_action": "gAct9~Off", "job_name": None,
            }
        )  # fmt: skip
        actions += _group_rows("gAct9~Off", "Off")
    for job, services in applications.items():
        is_run = SERVICES.index(services[0]) >= FIRST_RUN_SERVICE
        changed = is_changed and not calls and not is_run
        suites = [suite for service in services for suite in suite_weights(service, is_changed=changed)]
        codes = [SUITES[other].code for other in (suites if is_run else other_suites(recipe)[suites])]
        actions += _environment_rows(
            system, job, services, list(dict.fromkeys(codes)), report=report, is_changed=changed
        )
    return rules, actions


def _rule(system: int, job: str, services: list[Service], priority: int) -> Row:
    calls = system < CLIENTS
    ports = ", ".join(str(service.port) for service in services)
    runs = SERVICES.index(services[0]) >= FIRST_RUN_SERVICE
    address = ADDRESSES[system] if calls or runs else ADDRESSES[-1]
    return {
        "rule_name": rule_name(job, _role(system)),
        "rule_priority": priority,
        "direction": "Outbound" if calls else "Inbound",
        "local_addresses": address,
        "remote_ports" if calls else "local_ports": ports,
        "job_name": job if calls else f"{job[:4]}*",
        "group_action": GROUPS[_role(system)],
        "environment_action": environment_action(job),
    }


def _role(system: int) -> str:
    return "Client" if system < CLIENTS else "Server"


def _group_rows(name: str, enabled: str) -> Iterator[Row]:
    for parameter, value in (("TTLSEnabled", enabled), ("Trace", _TRACE)):
        yield _parameter("group", name, "", parameter, value)


def _environment_rows(
    system: int, job: str, services: list[Service], codes: list[str], *, report: bool, is_changed: bool
) -> Iterator[Row]:
    calls, newest = system < CLIENTS, SYSTEMS[system].level != "V2R3"
    name, advanced = environment_action(job), "TTLSEnvironmentAdvancedParms"
    server = "ServerWithClientAuth" if services[0].client_auth else "Server"
    yield _parameter("environment", name, "", "HandshakeRole", "Client" if calls else server)
    yield _parameter("environment", name, "TTLSKeyringParms", "Keyring", f"{job[:4]}RING")
    chosen = [code for code in codes if newest or not code.startswith("13")]
    parameter = "v3CipherSuites" if report else "V3CipherSuites4Char"
    for number, code in enumerate(chosen, 1):
        text = f"{code} {cipher_suites()[code].name}" if report else code
        yield _parameter("environment", name, "TTLSCipherParms", parameter, text, number)
    yield _parameter("environment", name, advanced, "TLSv1.2", "On")
    if newest:
        yield _parameter("environment", name, advanced, "TLSv1.3", "On")
    if report:
        # A report shows defaults too.
        for each in ("SSLv3", "ApplicationControlled"):
            yield _parameter("environment", name, advanced, each, "Off")
        yield _parameter("environment", name, advanced, "HandshakeTimeout", "10")
    if not calls:
        yield _parameter("environment", name, "TTLSGskAdvancedParms", "GSK_SYSPLEX_SIDCACHE", "On")
        if is_changed:
            yield _parameter("environment", name, "TTLSGskAdvancedParms", "GSK_V3_SESSION_TIMEOUT", "86400")
        if newest:
            cache = "GSK_SYSPLEX_SESSION_TICKET_CACHE"
            yield _parameter("environment", name, "TTLSGskAdvancedParms", cache, "On")


def _parameter(scope: str, action: str, section: str, name: str, value: str, member: int = 0) -> Row:
    return {
        "action_scope": scope,
        "action_name": action,
        "section": section,
        "parameter": name,
        "member_no": member,
        "parameter_value": value,
        "setting": "set",
    }


def policy_files(recipe: WorldRecipe) -> Iterator[ReportFile]:
    """Yield the policy of each system as a report or a file."""
    is_changed = recipe.change_day < recipe.days
    for number, system in enumerate(WORLD_SYSTEMS):
        if system.policy == "file":
            rules, actions = policy_rows(recipe, number, report=False, is_changed=is_changed)
            lines = policy_file_lines(rules, actions, title=[LABEL], inline=number % 2 == 0)
            what = f"AT-TLS policy file of {system.name}"
            yield ReportFile(f"policy.{system.name}.conf", as_bytes(lines), what)
            continue
        before_us = recipe.start_us - _INSTALLED_BEFORE_US
        yield _pasearch(recipe, number, before_us, recipe.start_us, is_changed=False)
        if is_changed and number >= CLIENTS:
            at_us = recipe.day_us(recipe.change_day)
            yield _pasearch(recipe, number, at_us, at_us + _SHOWN_AFTER_US, is_changed=True)


def _pasearch(
    recipe: WorldRecipe, number: int, installed_us: int, taken_us: int, *, is_changed: bool
) -> ReportFile:
    """Return the report of a system about the policy that was installed at a time."""
    clock = local_clock(recipe, number)
    rules, actions = policy_rows(recipe, number, report=True, is_changed=is_changed)
    installed = moment(installed_us)
    for rule in rules:
        rule |= {
            "instance_id": int(installed.timestamp()),
            "policy_created_local": clock.local(installed),
            "policy_updated_local": clock.local(installed),
        }
    taken = clock.local(moment(taken_us))
    report = pasearch_lines(rules, actions, stack=STACK, release=SYSTEMS[number].level, taken=taken)
    content = as_bytes([LABEL, *(line.rstrip() for line in report)])
    name = f"pasearch.{NAMES[number]}{'.changed' if is_changed else ''}.txt"
    return ReportFile(name, content, f"pasearch of {NAMES[number]}")


@dataclass
class Messages:
    """Collects the messages about failed handshakes at both ends."""

    context: RecordContext
    prefixes: ByteRows
    _daemon: dict[str, list[tuple[Any, list[str]]]] = field(default_factory=dict)
    _console: list[tuple[Any, list[str]]] = field(default_factory=list)

    def add(self, connections: WorldConnections) -> None:
        """Add the messages about new connections."""
        failed = connections[(connections.handshake == FAILED) & (connections.times == 1)]
        for system, name in enumerate(NAMES):
            seen = seen_by(failed, system, self.prefixes)
            clock = LocalClock(self.context.recipe.systems[system])
            for ended, start_us in zip(connection_rows(self.context, seen), seen.start.tolist(), strict=True):
                row = self._message(ended, start_us)
                local = clock.local(row["end_utc"])
                lines = daemon_lines(row, local, system=name, stack=STACK)
                self._daemon.setdefault(name, []).append((local, lines))
                if row["connection_id"] % _ON_CONSOLE == 0:
                    log = SyslogWriter(name, local, 731, "TCPIP")
                    on_console = row | {"message_id": "EZD1287I", "ttls_rule": row["ttls_rule"].upper()}
                    self._console.append((local, log.reply(message_lines(on_console))))

    def _message(self, row: Row, start_us: int) -> Row:
        role = role_of_end(row)
        # Both ends have the start, so both have the same code.
        code, event = _FAILURES[start_us // 10_000 % len(_FAILURES)]
        return {
            **row,
            "message_id": "EZD1286I",
            "group_id": GROUP_IDS[role],
            "environment_id": 16 + row["local_port"] % 16 if role == "Server" else 16,
            "ttls_rule": rule_name(row["job_name"], role),
            "return_code": code,
            "event": event,
        }

    def files(self) -> Iterator[ReportFile]:
        """Yield a log of syslogd for each system with messages, and a SYSLOG."""
        for name, messages in sorted(self._daemon.items()):
            messages.sort(key=lambda message: message[0])
            lines = [LABEL, *(line for _, lines in messages for line in lines)]
            day = messages[0][0].date()
            what = f"log of syslogd of {name}: failed handshakes"
            yield ReportFile(f"syslogd.{name}.{day:%Y-%m-%d}.log", as_bytes(lines), what)
        if self._console:
            self._console.sort(key=lambda message: message[0])
            first = SyslogWriter(NAMES[0], self._console[0][0]).reply([LABEL])
            lines = [*first, *(line for _, lines in self._console for line in lines)]
            yield ReportFile("syslog-tls.txt", as_bytes(lines), "SYSLOG of all systems: failed handshakes")
