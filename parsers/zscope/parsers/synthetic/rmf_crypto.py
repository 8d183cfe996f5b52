"""RMF cryptographic hardware records (type 70 subtype 2): cards in three modes, and ICSF."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.synthetic.batch import Batch, RecordMaker, Scene
from zscope.parsers.synthetic.rmf_record import Interval, RmfRecords, Values
from zscope.schemas import catalog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.parsers.smf.write import SectionRows
    from zscope.parsers.synthetic.batch import Numbers

TRIPLETS = 5
RECORD_LEVEL = 143
SCALE = 2.0**-20
"""One unit of a card's timer in seconds."""
THIS_SYSTEM = 1
CEX8 = 0x0E
ENGINES = 1
_CCA, _ACCELERATOR, _PKCS11 = (0, 1), (2,), (3,)
"""Card numbers by mode."""
_SECONDS = {
    "all_operations": 0.000_9, "rsa_key_generation": 0.25, "me_1024": 0.000_02, "me_2048": 0.000_06,
    "crt_1024": 0.000_1, "crt_2048": 0.000_4, "me_4096": 0.000_2, "crt_4096": 0.001_6,
    "slow_asymmetric": 0.002, "fast_asymmetric": 0.000_4, "symmetric_partial": 0.000_1,
    "symmetric_complete": 0.000_1, "asymmetric_key_generation": 0.09,
}  # fmt: skip
"""About how long a card takes for one operation."""
_CALLS = {
    "aes_encipher": 90_000,
    "aes_decipher": 85_000,
    "sha_224_256_hash": 40_000,
    "rsa_signature_generate": 1_500,
}
_USUAL_CALLS, _BYTES_A_CALL = 300, 600


@dataclass(frozen=True)
class CryptoRecords:
    """Makes crypto records."""

    scene: Scene

    def make(self, intervals: Sequence[Interval]) -> Batch:
        """One record for each interval; ICSF sections of the older level are shorter."""
        batch = Batch()
        for newest in (False, True):
            chosen = [
                interval for interval in intervals if bool(self.scene.newest[interval.system]) is newest
            ]
            if not chosen:
                continue
            records = RmfRecords(self.scene, self._maker, chosen)
            rng = self.scene.random(70, 2, chosen[0].number, newest)
            parts = [
                records.product(RECORD_LEVEL),
                self._cards(records, "crypto_cca", rng, _CCA, 0xC0),
                self._cards(records, "crypto_accel", rng, _ACCELERATOR, 0xFC),
                self._icsf(records, rng, newest=newest),
                self._cards(records, "crypto_pkcs11", rng, _PKCS11, 0xF8),
            ]
            records.put(batch, parts)
        for table, number in _ROWS.items():
            batch.tally.tables[table] += number * len(intervals)
        return batch

    @cached_property
    def _maker(self) -> RecordMaker:
        return RecordMaker(self.scene, catalog().records[70, 2], TRIPLETS)

    def _cards(
        self, records: RmfRecords, key: str, rng: np.random.Generator, cards: Sequence[int], valid: int
    ) -> SectionRows:
        """Cards of one mode; each pair of time and count agrees with the scale."""
        section, times = self._maker.layout.section(key), len(records.intervals)
        count = len(cards) * times
        values: Values = {
            "card_index": list(cards) * times,
            "card_type": [CEX8] * count,
            "validity_flags": [valid] * count,
            "diagnostic_data": ["00"] * count,
            "scaling_factor": [SCALE] * count,
            "scope": [THIS_SYSTEM] * count,
            "domain_id": [1] * count,
        }
        known = {field.column for field in section.fields}
        if "engine_count" in known:
            values["engine_count"] = [ENGINES] * count
        for field in section.columns:
            operation = field.column.removesuffix("_count")
            seconds = _SECONDS.get(operation.removeprefix(f"engine_{ENGINES}_"))
            if operation == field.column or seconds is None:
                continue
            counts = rng.poisson(20 / seconds**0.5, count)
            values[field.column] = counts.astype(float).tolist()
            if f"{operation}_time_raw" in known:
                values[f"{operation}_time_raw"] = np.round(counts * seconds / SCALE).tolist()
        return records.several(key, values)

    def _icsf(self, records: RmfRecords, rng: np.random.Generator, *, newest: bool) -> SectionRows:
        """Calls of services, with bytes and instructions where the section has them."""
        section, count = self._maker.layout.section("icsf"), len(records.intervals)
        columns: dict[str, pa.Array] = {}
        calls: dict[str, Numbers] = {}
        for field in section.columns:
            service, _, what = field.column.rpartition("_")
            if what == "calls":
                calls[service] = rng.poisson(_CALLS.get(service, _USUAL_CALLS), count)
                columns[field.column] = pa.array(calls[service].astype(float))
            elif what in {"bytes", "instructions"}:
                each = _BYTES_A_CALL if what == "bytes" else _BYTES_A_CALL // 16
                columns[field.column] = pa.array((calls[service] * each).astype(float))
        older = (section.lengths or {})["before OA59330"]
        return records.once("icsf", columns, section.known_length if newest else older)


_ROWS = {
    "smf70_crypto_cca": len(_CCA),
    "smf70_crypto_accel": len(_ACCELERATOR),
    "smf70_icsf": 1,
    "smf70_crypto_pkcs11": len(_PKCS11),
}
