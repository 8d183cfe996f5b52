"""Write displays in the envelopes in which people receive them, and collect the displays of all tests.

The envelopes are composed here, independent of the readers, in the forms that the documents of z/OSMF, Zowe,
Ansible and the RFCs describe.
"""

from __future__ import annotations

import ast
import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from zscope.parsers import Tables, read
from zscope.parsers.text.capture_writer import SyslogWriter
from zscope.parsers.text.file_defaults import FileDefaults
from zscope.parsers.text.report_splitter import ReportSplitter
from zscope.schemas.reports import report_tables

CHECKOUT = Path(__file__).resolve().parents[3]
FAMILIES = ("netstat", "gsksrvr", "attls")
TABLES = tuple(name for name, table in report_tables().items() if table.family in FAMILIES)
ORIGIN = frozenset(
    {"file", "line_no", "source", "system", "system_from", "time_from", "taken_local", "taken_time", "run"}
)
"""Columns that describe the capture, not the display."""
LOCAL = datetime(2025, 3, 14, 9, 45, 2, 120_000)  # noqa: DTZ001 - local time has no zone
ONE_PER_KIND = 3
"""Displays of the sample data of each kind."""

Lines = list[str]


@dataclass(frozen=True)
class Display:
    """One display without an envelope."""

    name: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


@cache
def displays() -> tuple[Display, ...]:
    """Return the displays in the texts of the tests, and some of the sample data."""
    found: list[Display] = []
    for folder in FAMILIES:
        for path in sorted((CHECKOUT / "tests" / "parsers" / "text" / folder).glob("*.py")):
            for text in _texts(path):
                found += [Display(f"{path.stem} {len(found)}", lines) for lines in _reports(text)]
    kinds: dict[str, int] = {}
    for folder in ("reports", "world/displays"):
        for path in sorted((CHECKOUT / "sample-data" / folder).glob("*.txt")):
            for lines in _reports(path.read_text(encoding="utf-8")):
                kind = " ".join(lines[1].split()[:1]) + lines[0][:9]
                kinds[kind] = kinds.get(kind, 0) + 1
                if kinds[kind] <= ONE_PER_KIND:
                    found.append(Display(f"{path.name} {len(found)}", lines))
    return tuple({display.lines: display for display in found}.values())


def _texts(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count("\n") > 1
    ]


def _reports(text: str) -> list[tuple[str, ...]]:
    reports = ReportSplitter(FileDefaults()).reports(text.splitlines())
    whole = [
        tuple(line.text for line in report.lines)
        for report in reports
        if report.family in FAMILIES and _has_heading(report.lines[0].text)
    ]
    return [lines for lines in whole if len(lines) > 2]


def _has_heading(text: str) -> bool:
    known = r"MVS TCP/IP NETSTAT CS|EZD0101I NETSTAT CS|GSK01\d{3}I|TCP/IP pasearch CS"
    return re.match(known, text) is not None


def rows_of(result: Tables) -> dict[str, list[tuple[tuple[str, Any], ...]]]:
    """Return the values of the rows by table, without the columns that describe the capture."""
    return {
        name: [
            tuple((column, value) for column, value in row.items() if column not in ORIGIN)
            for row in result[name].to_pylist()
        ]
        for name in TABLES
        if result[name].num_rows
    }


def read_text(content: str | bytes, folder: Path, name: str = "capture.txt") -> Tables:
    """Read a content as a file with this name."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read(path, TABLES)


def _connected(lines: Lines) -> Lines:
    """Return the lines of an answer on the console, whose first line ends with the connector number."""
    numbered = lines[0].startswith(("EZD", "GSK")) and not lines[0][-3:].isdecimal()
    return [f"{lines[0]} 612" if numbered else lines[0], *lines[1:]]


def _console_text(lines: Lines, end: str = "\r") -> str:
    return end.join([f" {_connected(lines)[0]}", *(f"  {line}".rstrip() for line in lines[1:])])


def _console(text: str, key: str | None = "C0004711") -> dict[str, Any]:
    if key is None:
        return {"cmd-response": text}
    address = f"/zosmf/restconsoles/consoles/defcn/solmsgs/{key}"
    return {
        "cmd-response-key": key,
        "cmd-response-url": f"https://sysa:443{address}",
        "cmd-response-uri": address,
        "cmd-response": text,
    }


def zosmf_console(lines: Lines) -> str:
    return json.dumps(_console(_console_text(lines)))


def zosmf_console_follow_ups(lines: Lines) -> str:
    texts = _console_text(lines).split("\r")
    middle, last = len(texts) // 3 + 1, 2 * len(texts) // 3 + 1
    parts = [texts[:middle], texts[middle:last], texts[last:]]
    answers = [_console("\r".join(part), None if number else "C0004711") for number, part in enumerate(parts)]
    return "\n".join(json.dumps(answer) for answer in answers)


def zosmf_log(lines: Lines) -> str:
    def item(message: str, job: str) -> dict[str, Any]:
        return {
            "jobName": f"{job:<8}", "system": "SYSA    ", "color": "green", "replyId": "0",
            "messageId": 71_943, "subType": "NULL", "time": "Fri Mar 14 08:45:02 GMT 2025",
            "timestamp": 1_741_941_902_120, "message": message, "type": "HARDCOPY", "cart": "0",
        }  # fmt: skip

    items = [item(" $HASP395 JOB1     ENDED", "JES2"), item(_console_text(lines), "GSKSRVR")]
    answer = {"timezone": 1, "nextTimestamp": 1_741_941_902_121, "source": "OPERLOG", "totalitems": 2}
    return json.dumps(answer | {"items": items}, indent=1)


def zosmf_tso(lines: Lines) -> str:
    messages: list[Any] = [
        {"TSO MESSAGE": {"VERSION": "0100", "DATA": line}}
        for line in ["IBMUSER LOGON IN PROGRESS", *lines, "READY "]
    ]
    prompt = {"TSO PROMPT": {"VERSION": "0100", "HIDDEN": "FALSE"}}
    answer = {"servletKey": "IBMUSER-71-aaakaaac", "queueID": "4", "ver": "0100", "reused": False}
    return json.dumps(answer | {"timeout": False, "sessionID": "0x38", "tsoData": [*messages, prompt]})


def zosmf_tso_one_shot(lines: Lines) -> str:
    messages = [{"message": line} for line in [*lines, "READY "]]
    return json.dumps({"cmdResponse": messages, "tsoPromptReceived": "Y"}, indent=2)


def _zowe(stdout: str, data: dict[str, Any]) -> str:
    answer = {"success": True, "exitCode": 0, "message": "", "stdout": stdout, "stderr": "", "data": data}
    return json.dumps(answer, indent=2)


def zowe_console(lines: Lines) -> str:
    text = _console_text(lines)
    shown = text.replace("\r", "\n") + "\n"
    data = {"success": True, "zosmfResponse": [_console(text)], "commandResponse": shown}
    return _zowe(shown, data | {"lastResponseKey": "C0004711", "keywordDetected": False})


def zowe_tso(lines: Lines) -> str:
    shown = "\n".join([*lines, "READY ", ""])
    start = {"success": True, "zosmfTsoResponse": {"servletKey": "IBMUSER-71", "ver": "0100"}}
    return _zowe(
        shown, {"success": True, "startResponse": start, "startReady": True, "commandResponse": shown}
    )


def zowe_ssh(lines: Lines) -> str:
    return _zowe("\r\n".join([*lines, ""]), {})


def user_log(lines: Lines, command: str = "D TCPIP,,NETSTAT,CONN") -> Lines:
    """Return the lines of the user log of SDSF."""
    stamp = f"{'SYSA':<11}{LOCAL:%Y%j}  {LOCAL:%H:%M:%S}.12"
    first = [f"{stamp:<43} ISF031I CONSOLE IBMUSER ACTIVATED", f"{stamp:<43}-{command}"]
    return [*first, f"{stamp:<43} {_connected(lines)[0]}", *(f"{'':43}{line}".rstrip() for line in lines[1:])]


def _operator(lines: Lines) -> dict[str, Any]:
    return {
        "changed": True, "cmd": "D TCPIP,,NETSTAT,CONN", "content": user_log(lines), "elapsed": 1.2,
        "failed": False, "rc": 0, "wait_time_s": 5,
    }  # fmt: skip


def ansible_operator(lines: Lines) -> str:
    return json.dumps(_operator(lines), indent=4)


def ansible_operator_play(lines: Lines) -> str:
    result = json.dumps({"result": _operator(lines)}, indent=4)
    begin = ["PLAY [Collect displays] ***", "", "TASK [Show them] ***"]
    return "\n".join([*begin, f"ok: [sysa.example.com] => {result}", "", "PLAY RECAP ***", "sysa : ok=2"])


def ansible_tso(lines: Lines) -> str:
    output = {"command": "NETSTAT CONN", "content": [f"{line:<80}" for line in lines], "lines": len(lines)}
    return json.dumps({"changed": True, "output": [output | {"max_rc": 0, "rc": 0}]}, indent=4)


def ansible_tso_play(lines: Lines) -> str:
    result = json.dumps({"changed": True, "output": [{"command": "NETSTAT", "content": lines, "rc": 0}]})
    return f"TASK [tso] ***\nchanged: [sysa] => {result}\n\nPLAY RECAP ***\n"


def log_records(lines: Lines) -> str:
    return "\n".join(
        json.dumps({"result": {"_raw": line, "_time": f"{LOCAL:%Y-%m-%dT%H:%M:%S}", "host": "SYSA"}})
        for line in lines
    )


def sdsf_log(lines: Lines) -> str:
    return "\n".join(SyslogWriter("SYSA", LOCAL).reply(lines))


def sdsf_user_log(lines: Lines) -> str:
    return "\n".join(user_log(lines))


def ssh_session(lines: Lines) -> str:
    return "\r\n".join(
        ["Last login: Fri Mar 14", "IBMUSER:/u/ibmuser: >netstat -c", *lines, "IBMUSER:/u/ibmuser: >exit", ""]
    )


def command_before(lines: Lines) -> str:
    return "\n".join([f"IBMUSER:/u/ibmuser: >netstat -c {lines[0]}", *lines[1:], "IBMUSER:/u/ibmuser: >"])


def tso_batch(lines: Lines) -> str:
    return "\n".join(f" {line}" for line in ["READY ", "NETSTAT CONN", *lines, "READY ", "END "])


def mail(lines: Lines) -> str:
    quoted = "\n".join(f"> {line}".rstrip() for line in lines)
    return f"Hello,\n\nOn Friday you wrote:\n\n{quoted}\n\nThis is strange.\n-- \nMike\n"


def line_numbers(lines: Lines) -> str:
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, 7))


def grep_numbers(lines: Lines) -> str:
    return "\n".join(f"{number}:{line}" for number, line in enumerate(lines, 98))


def editor_numbers(lines: Lines) -> str:
    return "\n".join(f"{100 * number:06} {line}" for number, line in enumerate(lines, 1))


def sequence_numbers(lines: Lines) -> str:
    return "\n".join(f"{line[:72]:<72}{100 * number:08}" for number, line in enumerate(lines, 1))


def syslog_daemon(lines: Lines) -> str:
    return "\n".join(f"Mar 14 09:45:02 SYSA netstat[83886085]: {line}" for line in lines)


def rfc_3164(lines: Lines) -> str:
    return "\n".join(f"<30>Mar 14 09:45:02 SYSA netstat: {line}" for line in lines)


def rfc_5424(lines: Lines) -> str:
    stamps = (f"2025-03-14T09:45:02.{number:03}+01:00" for number in range(len(lines)))
    return "\n".join(
        f"<30>1 {stamp} SYSA netstat 77 - - {line}" for stamp, line in zip(stamps, lines, strict=True)
    )


def container_log(lines: Lines) -> str:
    return "\n".join(
        f"2025-03-14T09:45:02.{number:09}Z stdout F {line}" for number, line in enumerate(lines, 123_456)
    )


def iso_times(lines: Lines) -> str:
    return "\n".join(f"2025-03-14 09:45:{number % 60:02} {line}" for number, line in enumerate(lines))


def julian_times(lines: Lines) -> str:
    return "\n".join(f"2025073 09:45:02.{number % 100:02} {line}" for number, line in enumerate(lines))


def terminal_codes(lines: Lines) -> str:
    colored = [f"\x1b[1m{lines[0]}\x1b[0m\x1b[K", *(f"\x1b[32m{line}\x1b[0m" for line in lines[1:])]
    return "\r\n".join(
        ["\x1b]0;sysa\x07\x1b[01;32mibmuser@sysa\x1b[00m:\x1b[34m~\x1b[00m$ netstat -c", *colored]
    )


def zero_padding(lines: Lines) -> bytes:
    return b"".join(line.encode().ljust(120, b"\0") + b"\n" for line in lines)


def web_page(lines: Lines) -> str:
    body = "\n".join(html.escape(line) for line in ["IBMUSER:/u/ibmuser: >netstat -c", *lines])
    page = f"<title>Ticket</title></head>\n<body>\n<h1>Display &amp; more</h1>\n<pre>{body}</pre>\n<p>End</p>"
    return f"<!DOCTYPE html>\n<html><head>{page}</body></html>\n"


def web_lines(lines: Lines) -> str:
    return "".join(f"<div>{html.escape(line).replace(' ', '&nbsp;')}</div>\n" for line in lines)


def markdown(lines: Lines) -> str:
    text = "\n".join(lines)
    return f"# Ticket\n\nThe display:\n\n```text\n{text}\n```\n\nWhat does it mean?\n"


def indented_code(lines: Lines) -> str:
    text = "\n".join(f"    {line}".rstrip() for line in lines)
    return f"The display:\n\n{text}\n"


def spreadsheet(lines: Lines) -> str:
    return "\n".join(f'"{line.replace(chr(34), chr(34) * 2)}"' for line in lines)


def rexx_list(lines: Lines) -> str:
    return "[\n" + ",\n".join(f'  "{line}"' for line in lines) + "\n]\n"


def yaml_list(lines: Lines) -> str:
    return "content:\n" + "\n".join(f"  - '{line}'" for line in lines) + "\n"


def carriage_control(lines: Lines) -> str:
    return "\n".join([f"1{lines[0]}", *(f" {line}" for line in lines[1:])])


def double_spaced(lines: Lines) -> str:
    return "\n".join([f"1{lines[0]}", *(f"0{line}" for line in lines[1:])])


ENVELOPES: dict[str, Callable[[Lines], str | bytes]] = {
    "z/OSMF console answer": zosmf_console,
    "z/OSMF console answer with follow-ups": zosmf_console_follow_ups,
    "z/OSMF log service": zosmf_log,
    "z/OSMF TSO session": zosmf_tso,
    "z/OSMF TSO command": zosmf_tso_one_shot,
    "Zowe console, `--rfj`": zowe_console,
    "Zowe TSO, `--rfj`": zowe_tso,
    "Zowe ssh, `--rfj`": zowe_ssh,
    "Ansible `zos_operator`": ansible_operator,
    "Ansible `zos_operator` in a play log": ansible_operator_play,
    "Ansible `zos_tso_command`": ansible_tso,
    "Ansible `zos_tso_command` in a play log": ansible_tso_play,
    "records of a log service as JSON lines": log_records,
    "SYSLOG": sdsf_log,
    "SDSF user log": sdsf_user_log,
    "ssh session with prompts": ssh_session,
    "command in the line of the heading": command_before,
    "TSO in batch": tso_batch,
    "quoted mail": mail,
    "line numbers of `cat -n`": line_numbers,
    "line numbers of `grep -n`": grep_numbers,
    "line numbers of an editor": editor_numbers,
    "sequence numbers in columns 73 to 80": sequence_numbers,
    "log of syslogd": syslog_daemon,
    "syslog of RFC 3164": rfc_3164,
    "syslog of RFC 5424": rfc_5424,
    "container log": container_log,
    "date and time before each line": iso_times,
    "year, day of the year and time before each line": julian_times,
    "terminal codes": terminal_codes,
    "binary zeros as padding": zero_padding,
    "HTML, `<pre>`": web_page,
    "HTML, one element for each line": web_lines,
    "Markdown, fenced": markdown,
    "Markdown, indented": indented_code,
    "spreadsheet, each line in quotes": spreadsheet,
    "list of quoted lines": rexx_list,
    "YAML list": yaml_list,
    "carriage control": carriage_control,
    "carriage control, double spaced": double_spaced,
}
