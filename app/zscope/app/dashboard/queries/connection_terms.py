"""What a reader types to find connections, as conditions in SQL: addresses, prefixes, numbers, names."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from zscope.schemas.ddl import literal

_HEX_DIGITS = 8
_LAST_NUMBER = 2**32 - 1
_LAST_PORT = 2**16 - 1


class UnreadableError(Exception):
    """What was typed means nothing; the text says what would."""


def of_address(text: str, columns: tuple[str, ...]) -> str:
    """A condition for one of the columns to be an address, or to lie in a prefix.

    >>> of_address("10.1.2.3", ("remote_ip",))
    "(remote_ip = '10.1.2.3')"
    >>> of_address("10.1.*", ("remote_ip",))
    "(starts_with(remote_ip, '10.1.'))"
    """
    typed = text.strip()
    if typed.endswith((".", ".*")):
        octets = typed.rstrip("*").rstrip(".").split(".")
        typed = ".".join([*octets, *["0"] * (4 - len(octets))]) + f"/{8 * len(octets)}"
    try:
        if "/" in typed:
            network = ip_network(typed, strict=False)
            found = [_within(network, column) for column in columns]
        else:
            found = [f"{column} = {literal(ip_address(typed).compressed)}" for column in columns]
    except ValueError:
        raise UnreadableError(
            "IP address: write an address such as 10.1.2.3 or 2001:db8::7, or a prefix such as 10.1.0.0/16, "
            "10.1.* or 2001:db8::/32"
        ) from None
    return f"({' OR '.join(found)})"


def _within(network: IPv4Network | IPv6Network, column: str) -> str:
    if isinstance(network, IPv4Network):
        return _within_four(network, column)
    first, last = (
        address.exploded.replace(":", "") for address in (network.network_address, network.broadcast_address)
    )
    return f"(contains({column}, ':') AND {_digits(column)} BETWEEN {literal(first)} AND {literal(last)})"


def _within_four(network: IPv4Network, column: str) -> str:
    whole, bits = divmod(network.prefixlen, 8)
    octets = str(network.network_address).split(".")
    if whole == len(octets):
        return f"{column} = {literal(str(network.network_address))}"
    begin = "".join(f"{octet}." for octet in octets[:whole])
    starts = f"starts_with({column}, {literal(begin)})" if begin else f"contains({column}, '.')"
    if not bits:
        return starts
    last = str(network.broadcast_address).split(".")[whole]
    octet = f"TRY_CAST(split_part({column}, '.', {whole + 1}) AS SMALLINT)"
    return f"({starts} AND {octet} BETWEEN {octets[whole]} AND {last})"


def _digits(column: str) -> str:
    """An IPv6 address as its 32 hex digits, which sort as the addresses do."""
    head, tail = (
        f"list_filter(string_split(split_part({column}, '::', {part}), ':'), lambda digits: digits <> '')"
        for part in (1, 2)
    )
    zeros = f"list_resize([]::VARCHAR[], greatest(0, 8 - len({head}) - len({tail})), '0')"
    groups = f"list_concat({head}, {zeros}, {tail})"
    return f"array_to_string(list_transform({groups}, lambda digits: lpad(digits, 4, '0')), '')"


def of_number(text: str) -> str:
    """A condition for the number of a connection, in decimal or, as NETSTAT has it, in hex.

    >>> of_number("4382"), of_number("0000111E"), of_number("0x111e")
    ('connection_id = 4382', 'connection_id = 4382', 'connection_id = 4382')
    """
    typed = text.strip().lower()
    is_hex = (
        typed.startswith("0x") or len(typed) == _HEX_DIGITS or any(letter in "abcdef" for letter in typed)
    )
    try:
        number = int(typed, 16 if is_hex else 10)
    except ValueError:
        number = -1
    if not 0 <= number <= _LAST_NUMBER:
        raise UnreadableError(
            "Connection ID: write a number such as 4382, or hex digits such as 0000111E or 0x111E"
        )
    return f"connection_id = {number}"


def of_port(text: str) -> str:
    """A condition for a port of either side.

    >>> of_port("443")
    '(local_port = 443 OR remote_port = 443)'
    """
    typed = text.strip()
    if not (typed.isascii() and typed.isdigit() and int(typed) <= _LAST_PORT):
        raise UnreadableError(f"Port: write a number from 0 to {_LAST_PORT}")
    return f"(local_port = {int(typed)} OR remote_port = {int(typed)})"


def of_name(text: str, column: str) -> str:
    """A condition for a name, which z/OS keeps in capitals; a `*` at the end stands for anything.

    >>> of_name("cics*", "job_name")
    "(starts_with(job_name, 'cics') OR starts_with(job_name, 'CICS'))"
    """
    typed = text.strip()
    if typed.endswith("*"):
        begins = [f"starts_with({column}, {literal(name)})" for name in (typed[:-1], typed[:-1].upper())]
        return f"({' OR '.join(begins)})"
    return f"{column} IN ({literal(typed)}, {literal(typed.upper())})"
