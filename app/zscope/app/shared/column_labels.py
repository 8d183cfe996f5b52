"""Names of columns in words, for headings of tables and charts."""

from __future__ import annotations

TIMES = {"us": 1.0, "ms": 1e3, "s": 1e6}
"""Units of columns with a time, in microseconds."""
_UNITS = {
    "pct": "%", "ms": "ms", "us": "µs", "s": "s", "utc": "UTC", "local": "local", "bytes": "bytes",
    "mb": "MB",
}  # fmt: skip
"""Units by the last part of a column name."""
_ABBREVIATIONS = {
    "cpu": "CPU", "tls": "TLS", "ip": "IP", "dn": "name", "id": "ID", "lpar": "LPAR", "ziip": "zIIP",
    "pfs": "PFS", "cp": "CP", "cps": "CPs", "ssl": "SSL", "rsa": "RSA", "tls10": "TLSv1.0,",
    "tls11": "TLSv1.1", "tls13": "TLSv1.3", "ecb": "ECB", "ecbs": "ECBs", "etr": "ETR", "mq": "MQ",
    "sslrkeyc": "SSLRKEYC", "ssh": "SSH", "ipsec": "IPsec", "aes": "AES", "sha": "SHA", "cpus": "CPUs",
    "tcp": "TCP", "msu": "MSU", "srb": "SRB", "ziips": "zIIPs", "tcb": "TCB", "cpc": "CPC", "smf": "SMF",
    "rmf": "RMF", "zos": "z/OS", "utc": "UTC", "lru": "LRU", "ftp": "FTP", "attls": "AT-TLS", "zert": "zERT",
    "icsf": "ICSF", "sid": "SID", "asid": "ASID", "io": "I/O", "cf": "CF", "wlm": "WLM", "fips": "FIPS",
    "cca": "CCA", "ecc": "ECC", "ec": "EC", "dh": "DH", "dhe": "DHE", "ecdhe": "ECDHE", "sni": "SNI",
    "mac": "MAC", "ip4": "IPv4", "ip6": "IPv6", "vm": "VM", "zvm": "z/VM", "ztpf": "z/TPF", "rscs": "RSCS",
}  # fmt: skip


def label(column: str, unit: str = "") -> str:
    """Return the name of a column in words; `unit` replaces the unit of time in its name.

    >>> label("resumed_pct"), label("cpu_us_per_transaction"), label("hour_utc"), label("starts_per_s")
    ('Resumed (%)', 'CPU µs per transaction', 'Hour (UTC)', 'Starts per s')
    """
    parts = column.split("_")
    if unit:
        parts[parts.index(unit_of(column))] = unit
    # In `starts_per_s` the last part is not the unit.
    last = _UNITS.get(parts[-1]) if len(parts) > 1 and parts[-2] != "per" else None
    words = [_ABBREVIATIONS.get(part, _UNITS.get(part, part)) for part in (parts[:-1] if last else parts)]
    text = " ".join(words)
    return f"{text[:1].upper() if text[:1] != 'z' else 'z'}{text[1:]}" + (f" ({last})" if last else "")


def words_and_unit(column: str, declared: str = "") -> tuple[str, str]:
    """Return the name of a column in words and the unit of its values, which the name has or is declared.

    >>> words_and_unit("cpu_s_per_day"), words_and_unit("resumed_pct"), words_and_unit("starts_per_s")
    (('CPU', 's/day'), ('resumed', '%'), ('starts', 'per s'))
    >>> words_and_unit("peak_ecbs"), words_and_unit("pause", "min"), words_and_unit("msu", "msu")
    (('peak ECBs', ''), ('pause', 'min'), ('MSU', ''))
    """
    parts = column.split("_")
    place = parts.index("per") if "per" in parts[1:] else len(parts)
    before, after = parts[:place], " ".join(_ABBREVIATIONS.get(part, part) for part in parts[place + 1 :])
    unit = _UNITS.get(before[-1], "") if len(before) > 1 or after else ""
    if unit:
        before = before[:-1]
    elif not after and declared not in parts:
        unit = declared
    if after:
        unit = f"{unit}/{after}" if unit else f"per {after}"
    return " ".join(_ABBREVIATIONS.get(part, _UNITS.get(part, part)) for part in before), unit


def unit_of(column: str) -> str:
    """Return the unit in the name of a column with a time; empty without one.

    >>> unit_of("cpu_us_per_transaction"), unit_of("response_us"), unit_of("transactions_per_s")
    ('us', 'us', '')
    """
    parts = column.split("_")
    for place, part in enumerate(parts):
        if part in TIMES and place and parts[place - 1] != "per":
            return part if place == len(parts) - 1 or parts[place + 1] == "per" else ""
    return ""
