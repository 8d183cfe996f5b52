"""Start Streamlit so that it never looks up the addresses of this machine.

For its own display, and when a page of another origin connects, Streamlit asks a server in the internet for
the address under which it sees this machine. Nothing of zscope needs that: the command names the hosts that
are allowed.
"""

from __future__ import annotations


def unknown_address() -> None:
    """Return no address, which Streamlit treats as one that could not be found."""
    return


def stay_on_this_machine() -> None:
    """Replace the functions of Streamlit that connect to other machines."""
    from streamlit import net_util

    net_util.get_external_ip = unknown_address
    net_util.get_internal_ip = unknown_address


def main() -> None:
    """Run Streamlit with the arguments of the command line."""
    from streamlit.web.cli import main as streamlit

    stay_on_this_machine()
    streamlit(prog_name="streamlit")


if __name__ == "__main__":
    main()
