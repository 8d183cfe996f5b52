"""Tables in columns: rows are selected and joined in all columns alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zscope.samples.dump.arrays import ColumnTable, Flags, Numbers, column

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class Sockets(ColumnTable):
    port: Numbers = column()
    is_open: Flags = column(np.bool_)
    address: NDArray[np.uint8] = column(np.uint8, 4)


def sockets(*ports: int) -> Sockets:
    table = Sockets.zeros(len(ports))
    table.port[:] = ports
    table.address[:, 3] = ports
    return table


def test_rows_of_zeros_have_the_types_and_widths_of_their_columns() -> None:
    table = Sockets.zeros(3)
    assert len(table) == 3
    assert [str(values.dtype) for values in vars(table).values()] == ["int64", "bool", "uint8"]
    assert table.address.shape == (3, 4)


def test_rows_are_selected_in_every_column() -> None:
    table = sockets(21, 22, 23)
    for rows in (slice(1, None), np.array([1, 2]), table.port > 21):
        chosen = table[rows]
        assert chosen.port.tolist() == [22, 23]
        assert chosen.address.tolist() == [[0, 0, 0, 22], [0, 0, 0, 23]]


def test_a_slice_shares_its_rows_and_a_copy_does_not() -> None:
    table = sockets(21, 22)
    copied = table[:1].copy()
    table[:1].port[:] = 80
    assert (table.port.tolist(), copied.port.tolist()) == ([80, 22], [21])


def test_tables_are_joined_in_their_order_and_none_is_an_empty_one() -> None:
    assert Sockets.joined([sockets(21), Sockets(), sockets(22, 23)]).port.tolist() == [21, 22, 23]
    assert len(Sockets.joined([])) == 0
