"""NETSTAT DEVLINKS: interfaces of all kinds, as printed, as written, and damaged."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.damaging import interrupted, wrapped
from tests.parsers.text.netstat.damage import assert_honest
from tests.parsers.text.netstat.displays import read_values

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.netstat.devlinks_write import devlinks_lines
from zscope.parsers.text.netstat.reply import Command
from zscope.schemas.reports import PrintedFormat, report_table

if TYPE_CHECKING:
    from tests.parsers.text.reading import Row

TABLE = "netstat_devlink"
FIELDS = {printed.column: printed for printed in report_table(TABLE).columns}


def _read(lines: list[str]) -> tuple[list[Row], list[Issue]]:
    return read_values(TABLE, lines)


NETWORK_EXPRESS = """\
EZD0101I NETSTAT CS 3.2 TCPTEST 077
INTFNAME: TSTOSH7           INTFTYPE: EQENET     INTFSTATUS: READY
  **AUTOMIGRATED**
    DEVNUM: 5B00      ACTDEVNUM: 5B04    DEVSTATUS: READY
    CHPIDTYPE: OSH    CHPID: 6D          PCHID: 0211
    SMCD: NO          SMCR: YES          PNETID: TESTNET7
    ADAPTER GEN: NETWORK EXPRESS V1.0
    TRLE: IUTE5B04                   CODE LEVEL: 3031000000002888
    PORTNAME: EZAP5B04
    SPEED: 0000010000 (10G)
    IPBROADCASTCAPABILITY: NO
    VMACADDR: 42001122AABB   VMACORIGIN: OSA    VMACROUTER: ALL
    CFGMTU: NONE                     ACTMTU: 8992
    IPADDR: 10.67.1.2/16
    VLANID: 77                       VLANPRIORITY: DISABLED
    TOTAL READ STORAGE: 12.5M
    CHECKSUMOFFLOAD: YES             SEGMENTATIONOFFLOAD: NO
    SECCLASS: 254                    MONSYSPLEX: NO
    ISOLATE: YES
    BRANDNEW: THING
  MULTICAST SPECIFIC:
    MULTICAST CAPABILITY: YES
    GROUP             REFCNT        SRCFLTMD
    -----             ------        --------
    224.0.0.1         0000000001    EXCLUDE
      SRCADDR: NONE
    239.1.1.7         0000000003    INCLUDE
      SRCADDR: 10.1.1.1
               10.1.1.2
  INTERFACE STATISTICS:
    BYTESIN                           = 18446744073709551615
    INBOUND PACKETS                   = 81234
    INBOUND PACKETS IN ERROR          = 1
    INBOUND PACKETS DISCARDED         = 2
    INBOUND PACKETS WITH NO PROTOCOL  = 0
    BYTESOUT                          = 5123456789
    OUTBOUND PACKETS                  = 70001
    OUTBOUND PACKETS IN ERROR         = 0
    OUTBOUND PACKETS DISCARDED        = 4
  ASSOCIATED IQD CONVERGED INTERFACE: EZAIQC6D  IQC STATUS: NOT ACTIVE
    BYTESIN                           = 12
    INBOUND PACKETS                   = 3
    BYTESOUT                          = 34
    OUTBOUND PACKETS                  = 5
  SMCR CAPABILITY: V2
    ASSOCIATED MULTI-SUBNET RNIC INTERFACE: EZARIUT16D01
      ROCE PFID:  6D01                 SMCRMTU: 2048
      SMCRIPADDR: 10.67.1.9

IPV4 LAN GROUP SUMMARY
LANGROUP: 00003
  NAME              STATUS      ARPOWNER          VIPAOWNER
  ----              ------      --------          ---------
  TSTOSH7           NOT ACTIVE  TSTOSH7           YES
1 OF 1 RECORDS DISPLAYED
END OF THE REPORT
"""
NETWORK_EXPRESS_ROW: Row = {
    "interface": "TSTOSH7",
    "interface_type": "EQENET",
    "interface_status": "READY",
    "automigrated": True,
    "device_number": "5B00",
    "active_device_number": "5B04",
    "device_status": "READY",
    "chpid_type": "OSH",
    "chpid": "6D",
    "pchid": "0211",
    "smcd": False,
    "smcr": True,
    "pnet_id": "TESTNET7",
    "adapter_generation": "NETWORK EXPRESS V1.0",
    "trle": "IUTE5B04",
    "code_level": "3031000000002888",
    "port_name": "EZAP5B04",
    "speed_mbit_per_s": 10000,
    "ip_broadcast": False,
    "vmac": "42001122AABB",
    "vmac_origin": "OSA",
    "vmac_router": "ALL",
    "mtu_bytes": 8992,
    "ip_address": "10.67.1.2/16",
    "vlan_id": "77",
    "vlan_priority": "DISABLED",
    "total_read_storage": "12.5M",
    "checksum_offload": True,
    "segmentation_offload": False,
    "security_class": 254,
    "monitor_sysplex": False,
    "isolate": True,
    "multicast_capability": True,
    "smcr_capability": "V2",
    "in_bytes": 18446744073709551615,
    "in_packets": 81234,
    "in_error_packets": 1,
    "in_discarded_packets": 2,
    "in_no_protocol_packets": 0,
    "out_bytes": 5123456789,
    "out_packets": 70001,
    "out_error_packets": 0,
    "out_discarded_packets": 4,
    "iqd_interface": "EZAIQC6D",
    "iqd_status": "NOT ACTIVE",
    "iqd_in_bytes": 12,
    "iqd_in_packets": 3,
    "iqd_out_bytes": 34,
    "iqd_out_packets": 5,
    "extra": {
        "CFGMTU": "NONE",
        "BRANDNEW": "THING",
        "multicast.224.0.0.1.REFCNT": "0000000001",
        "multicast.224.0.0.1.SRCFLTMD": "EXCLUDE",
        "multicast.224.0.0.1.SRCADDR": "NONE",
        "multicast.239.1.1.7.REFCNT": "0000000003",
        "multicast.239.1.1.7.SRCFLTMD": "INCLUDE",
        "multicast.239.1.1.7.SRCADDR": "10.1.1.1, 10.1.1.2",
        "ASSOCIATED MULTI-SUBNET RNIC INTERFACE": "EZARIUT16D01",
        "EZARIUT16D01.ROCE PFID": "6D01",
        "EZARIUT16D01.SMCRMTU": "2048",
        "EZARIUT16D01.SMCRIPADDR": "10.67.1.9",
        "IPV4 LANGROUP 00003.STATUS": "NOT ACTIVE",
        "IPV4 LANGROUP 00003.ARPOWNER": "TSTOSH7",
        "IPV4 LANGROUP 00003.VIPAOWNER": "YES",
    },
}
TERMINAL = """\
MVS TCP/IP NETSTAT CS 3.2       TCPIP Name: TCPTEST         10:05:12
IntfName: TSTSIX1           IntfType: EQENET6    IntfStatus: Not Active
    DevNum: 5C00      ActDevNum: N/A     DevStatus: Starting
    ChpidType: OSH    Chpid: N/A         Pchid: N/A
    QueSize: 0    Speed: 0000025000
    VmacAddr: 42001122AACC   VmacOrigin: Cfg    VmacRouter: Local
    DupAddrDet: 1
    IntfID: 0:1:2:3
    CfgMtu: 8992                     ActMtu: Unknown
    TempPrefix: None
  Multicast Specific:
    Multicast Capability: No
  Interface Statistics:
    BytesIn                           = 0
    BytesOut                          = 0
IntfName: EZAZCX            IntfType: ZCX        IntfStatus: Ready
    ActMtu: 65535
    SecClass: 255                    MonSysplex: No
  Multicast Specific:
    Multicast Capability: No
  Interface Statistics:
    BytesIn                           = 777
    Inbound Packets                   = 8
IntfName: TSTOSA1           IntfType: IPAQENET   IntfStatus: Ready
    PortName: OSATST1   Datapath: 2B02     DatapathStatus: Ready
    CHPIDType: OSD                   SMCR: Yes
    Speed: 0000010000
    CfgMtu: 1492                     ActMtu: 1492
    ReadStorage: GLOBAL (4096K)      InbPerf: Dynamic
      WorkloadQueueing: Yes
    ChecksumOffload: Yes             SegmentationOffload: Yes
"""
TERMINAL_ROWS: list[Row] = [
    {
        "interface": "TSTSIX1",
        "interface_type": "EQENET6",
        "interface_status": "Not Active",
        "automigrated": False,
        "device_number": "5C00",
        "device_status": "Starting",
        "chpid_type": "OSH",
        "queue_size": 0,
        "speed_mbit_per_s": 25000,
        "vmac": "42001122AACC",
        "vmac_origin": "Cfg",
        "vmac_router": "Local",
        "configured_mtu_bytes": 8992,
        "duplicate_address_detection": "1",
        "interface_id": "0:1:2:3",
        "temporary_prefix": "None",
        "multicast_capability": False,
        "in_bytes": 0,
        "out_bytes": 0,
        "extra": {"ActMtu": "Unknown"},
    },
    {
        "interface": "EZAZCX",
        "interface_type": "ZCX",
        "interface_status": "Ready",
        "mtu_bytes": 65535,
        "security_class": 255,
        "monitor_sysplex": False,
        "multicast_capability": False,
        "in_bytes": 777,
        "in_packets": 8,
    },
    {
        "interface": "TSTOSA1",
        "interface_type": "IPAQENET",
        "interface_status": "Ready",
        "datapath": "2B02",
        "datapath_status": "Ready",
        "chpid_type": "OSD",
        "smcr": True,
        "port_name": "OSATST1",
        "speed_mbit_per_s": 10000,
        "configured_mtu_bytes": 1492,
        "mtu_bytes": 1492,
        "read_storage": "GLOBAL (4096K)",
        "inbound_performance": "Dynamic",
        "workload_queueing": "Yes",
        "checksum_offload": True,
        "segmentation_offload": True,
    },
]
LINKS = """\
MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPTEST         10:05:12
DevName: VDEV1              DevType: VIPA
  DevStatus: Ready
  LnkName: VLINK1           LnkType: VIPA       LnkStatus: Ready
  LnkName: VLINK2           LnkType: VIPA       LnkStatus: Not Active
DevName: LOOPBACK           DevType: LOOPBACK
  LnkName: LOOPBACK         LnkType: LOOPBACK   LnkStatus: Ready
  Link Statistics:
    BytesIn                           = 9
"""


def test_network_express_on_the_console() -> None:
    assert _read(NETWORK_EXPRESS.splitlines()) == ([NETWORK_EXPRESS_ROW], [])


def test_other_types_on_a_terminal() -> None:
    assert _read(TERMINAL.splitlines()) == (TERMINAL_ROWS, [])


def test_indentation_and_columns_do_not_count() -> None:
    squeezed = [" ".join(line.split()) for line in TERMINAL.splitlines()]
    assert _read(squeezed) == (TERMINAL_ROWS, [])


def test_links_of_devices() -> None:
    rows, issues = _read(LINKS.splitlines())
    assert [(row["device_name"], row["interface"], row["interface_status"]) for row in rows] == [
        ("VDEV1", "VLINK1", "Ready"),
        ("VDEV1", "VLINK2", "Not Active"),
        ("LOOPBACK", "LOOPBACK", "Ready"),
    ]
    assert [row.get("device_status") for row in rows] == ["Ready", "Ready", None]
    assert (rows[2]["in_bytes"], issues) == (9, [])


def test_labels_of_an_unknown_part_are_in_extra() -> None:
    lines = TERMINAL.splitlines()
    at = next(no for no, line in enumerate(lines) if "Multicast Specific" in line)
    (row, *_), issues = _read(
        [*lines[:at], "  Brand New Part:", "    BytesIn = 4", "    ActMtu: 1", *lines[at:]]
    )
    expected = TERMINAL_ROWS[0]["extra"] | {"Brand New Part.BytesIn": "4", "Brand New Part.ActMtu": "1"}
    assert (row, issues) == (TERMINAL_ROWS[0] | {"extra": expected}, [])


def test_missing_first_line_of_an_interface_is_reported() -> None:
    rows, issues = _read([line for line in TERMINAL.splitlines() if "EZAZCX" not in line])
    assert [row.get("interface") for row in rows] == ["TSTSIX1", None, "TSTOSA1"]
    assert rows[1]["in_bytes"] == 777
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.REPORT_UNREADABLE, 16)]


def test_missing_heading_of_statistics_is_reported() -> None:
    (row,), issues = _read([line for line in NETWORK_EXPRESS.splitlines() if "IQD CONVERGED" not in line])
    assert (row["in_bytes"], "iqd_in_bytes" in row) == (18446744073709551615, False)
    assert row["extra"]["BYTESIN"] == "12"
    assert {issue.code for issue in issues} == {Code.REPORT_UNREADABLE}


@pytest.mark.parametrize(
    ("before", "after", "lost", "label"),
    [
        ("SMCR: YES          PNETID", "SMCR: YES PNET1D", "smcr", "SMCR"),
        ("EQENET     INTFSTATUS:", "EQENET     INTFSTATUS", "interface_type", "INTFTYPE"),
        ("= 18446744073709551615", "= 18446744073709551616", "in_bytes", "BytesIn"),
        ("= 81234", "= 81 34", "in_packets", "Inbound Packets"),
        ("OFFLOAD: YES", "OFFLOAD: YE", "checksum_offload", "ChecksumOffload"),
    ],
)
def test_damaged_value_is_null_with_an_issue(before: str, after: str, lost: str, label: str) -> None:
    (row,), (issue,) = _read(NETWORK_EXPRESS.replace(before, after).splitlines())
    assert lost in NETWORK_EXPRESS_ROW.keys() - row.keys()
    assert (issue.code, issue.field) == (Code.BAD_VALUE, label)
    assert issue.line_no is not None


def test_lan_group_of_a_missing_interface_is_reported() -> None:
    lines = NETWORK_EXPRESS.replace("  TSTOSH7           NOT", "  OTHER             NOT").splitlines()
    (row,), (issue,) = _read(lines)
    assert not [label for label in row["extra"] if "LANGROUP" in label]
    assert (issue.code, issue.line_no) == (Code.UNKNOWN_LINE, len(lines) - 2)


_NAME = st.from_regex(r"[A-Z][A-Z0-9]{0,15}", fullmatch=True)
_WORD = st.from_regex(r"[A-Z0-9][A-Z0-9./]{0,11}", fullmatch=True).filter(lambda word: word != "N/A")
_MADE = {"interface", "interface_type", "automigrated"}
_LINKS_ONLY = {"device_name", "device_type"}
_BY_FORMAT = {
    PrintedFormat.TEXT: _WORD,
    PrintedFormat.COUNT: st.integers(0, 2**64 - 1),
    PrintedFormat.YES_NO: st.booleans(),
}
_VALUES = {
    column: _BY_FORMAT[printed.format]
    for column, printed in FIELDS.items()
    if column not in _MADE | _LINKS_ONLY and not column.startswith("iqd_")
}
_IQD = st.fixed_dictionaries(
    {"iqd_interface": _NAME, "iqd_status": st.sampled_from(["READY", "NOT ACTIVE"])},
    optional={
        c: _BY_FORMAT[PrintedFormat.COUNT] for c in FIELDS if c.startswith("iqd_") and c.endswith("bytes")
    },
)
_EXTRA = st.sampled_from(
    [
        {},
        {"BRANDNEW": "A B"},
        {key: value for key, value in NETWORK_EXPRESS_ROW["extra"].items() if "multicast.224" in key},
        {key: value for key, value in NETWORK_EXPRESS_ROW["extra"].items() if "ARIUT" in key + value},
        {key: value for key, value in NETWORK_EXPRESS_ROW["extra"].items() if "LANGROUP" in key},
        {"NEW PART.A": "1", "NEW PART.B C": "2"},
    ]
)
_INTERFACE = st.tuples(
    st.sampled_from(
        [
            {"interface_type": "EQENET", "automigrated": False},
            {"interface_type": "EQENET", "automigrated": True},
            {"interface_type": "EQENET6", "automigrated": False},
            {"interface_type": "ZCX"},
            {"interface_type": "IPAQENET"},
        ]
    ),
    st.fixed_dictionaries({}, optional=_VALUES),
    _IQD | st.just({}),
    _EXTRA,
)
_LINK = st.fixed_dictionaries(
    {"device_name": _NAME, "device_type": _WORD, "interface_type": _WORD},
    optional={
        "device_number": _WORD,
        "device_status": _WORD,
        "interface_status": _WORD,
        "mtu_bytes": st.integers(0, 9),
    },
)


def _interface(parts: tuple[Any, ...]) -> Row:
    kind, values, iqd, extra = parts
    row: Row = kind | values | iqd
    return row | ({"extra": extra} if extra else {})


@pytest.mark.parametrize(
    ("printed", "damaged", "code", "text"),
    [
        ("INTERFACE STATISTICS:", "INTERFAXE STATISTICS:", Code.UNKNOWN_COLUMN, "as INTERFACESTATISTICS"),
        ("MULTICAST SPECIFIC:", "MULTICOST SPECIFIC:", Code.UNKNOWN_COLUMN, "as MULTICASTSPECIFIC"),
        ("CONVERGED INTERFACE:", "CONVERTED INTERFACE:", Code.UNKNOWN_COLUMN, "as ASSOCIATEDIQDCONVERGED"),
        (
            "    BYTESOUT                          = 34\n",
            "    BYTESOXT                          = 34\n",
            Code.UNKNOWN_COLUMN,
            "as BYTESOUT",
        ),
        (
            "    CHPIDTYPE:",
            "    ISOLATE: YES\n    ISOLATE: YES\n    CHPIDTYPE:",
            Code.REPORT_REPEATED,
            "doubled",
        ),
        ("MULTICAST CAPABILITY:", "MULTICAST CAPABILXTY:", Code.UNKNOWN_COLUMN, "as MULTICASTCAPABILITY"),
        ("SRCADDR: NONE\n", "SRCADDR: NONE", Code.BAD_VALUE, "more than the value"),
    ],
)
def test_a_damaged_part_is_reported(printed: str, damaged: str, code: Code, text: str) -> None:
    assert NETWORK_EXPRESS.count(printed) == 1
    _, issues = _read(NETWORK_EXPRESS.replace(printed, damaged).splitlines())
    assert [issue for issue in issues if issue.code is code and text in issue.text]


def test_figures_of_the_interface_among_those_of_the_associated_one_are_reported() -> None:
    lines = NETWORK_EXPRESS.splitlines()
    at = next(at for at, line in enumerate(lines) if "ASSOCIATED IQD" in line)
    lines[at - 1], lines[at] = lines[at], lines[at - 1]
    _, issues = _read(lines)
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.BAD_VALUE, at + 1)]


_ROWS = st.lists((_INTERFACE.map(_interface)) | _LINK, min_size=1, max_size=4)


@given(_ROWS, st.booleans())
def test_written_report_reads_back(rows: list[Row], console: bool) -> None:
    rows = [row | {"interface": f"INTF{number}"} for number, row in enumerate(rows)]
    printed = [row | ({"extra": json.dumps(row["extra"])} if "extra" in row else {}) for row in rows]
    assert _read(devlinks_lines(printed, Command(console=console, release="3.2"))) == (rows, [])


def test_written_report_looks_like_the_printed_one() -> None:
    printed = NETWORK_EXPRESS_ROW | {"extra": json.dumps(NETWORK_EXPRESS_ROW["extra"])}
    command = Command(console=True, release="3.2", stack="TCPTEST", connector=77)
    written, lines = devlinks_lines([printed], command), NETWORK_EXPRESS.splitlines()
    same = [line for line in lines if "CFGMTU" not in line and "PFID" not in line and line]
    assert [line for line in same if line not in written] == [
        "               10.1.1.2",
        "      SRCADDR: 10.1.1.1",
    ][::-1]


def _honest(lines: list[str]) -> None:
    assert_honest([NETWORK_EXPRESS_ROW, *TERMINAL_ROWS], _read(lines))


@given(st.integers(0, 2**32), st.sampled_from([NETWORK_EXPRESS, TERMINAL]), st.integers(40, 80))
def test_damaged_reports(seed: int, text: str, width: int) -> None:
    chosen, lines = random.Random(seed), text.splitlines()
    _honest([line for line in lines if chosen.random() < 0.95])
    _honest(lines[: chosen.randrange(1, len(lines))])
    _honest([line[1:] if chosen.random() < 0.1 else " " * chosen.randint(0, 1) + line for line in lines])
    _honest(wrapped(lines, width))
    _honest(text.upper().splitlines())
    noise = ["", "IBMUSER:/u/ibmuser: >", "READY", "$ netstat -d"]
    _honest(interrupted(chosen, lines, noise))


@given(st.lists(st.text(max_size=100), max_size=30))
def test_any_text_is_read_without_an_exception(lines: list[str]) -> None:
    rows, _ = _read(["IntfName: A", *lines])
    assert rows[0]["interface"] == "A"


LAN_MEMBER = "  TSTOSH7           NOT ACTIVE  TSTOSH7           YES\n"
OTHER_MEMBER = "  TSTOSH8           ACTIVE      TSTOSH8           NO\n"


@pytest.mark.parametrize("lines", [LAN_MEMBER + OTHER_MEMBER, OTHER_MEMBER + LAN_MEMBER])
def test_a_member_of_a_lan_group_that_is_not_in_the_report(lines: str) -> None:
    (row,), issues = _read(NETWORK_EXPRESS.replace(LAN_MEMBER, lines).splitlines())
    assert issues == []
    assert row["extra"] == NETWORK_EXPRESS_ROW["extra"] | {
        "IPV4 LANGROUP 00003.TSTOSH8.STATUS": "ACTIVE",
        "IPV4 LANGROUP 00003.TSTOSH8.ARPOWNER": "TSTOSH8",
        "IPV4 LANGROUP 00003.TSTOSH8.VIPAOWNER": "NO",
    }


def test_a_lan_group_of_other_interfaces_is_reported() -> None:
    _, issues = _read(NETWORK_EXPRESS.replace(LAN_MEMBER, OTHER_MEMBER).splitlines())
    assert [issue.code for issue in issues] == [Code.UNKNOWN_LINE]


@pytest.mark.parametrize(
    "text",
    [
        "UNASSOCIATED ISM INTERFACES: EZAISM01  EZAISM02",
        "UNASSOCIATED ISM INTERFACES: EZAISM01\n                              EZAISM02",
        "UNASSOCIATED ISM INTERFACES\n    EZAISM01\n    EZAISM02",
    ],
)
def test_lists_of_interfaces_have_their_own_label(text: str) -> None:
    before = "IPV4 LAN GROUP SUMMARY"
    (row,), issues = _read(NETWORK_EXPRESS.replace(before, f"  {text}\n{before}").splitlines())
    assert issues == []
    assert row["extra"] == NETWORK_EXPRESS_ROW["extra"] | {
        "UNASSOCIATED ISM INTERFACES": "EZAISM01, EZAISM02"
    }
