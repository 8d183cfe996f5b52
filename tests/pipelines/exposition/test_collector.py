"""Sending to a collector: retries, refusals, partial success, and addresses that cannot be used."""

from __future__ import annotations

import socket
import sys

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsPartialSuccess,
    ExportMetricsServiceResponse,
)
from tests.pipelines.exposition.collector_end_point import attributes, collector

from zscope.pipelines.export_target import ExportError
from zscope.pipelines.exposition.collector import HEADERS, OtlpCollector, is_address
from zscope.pipelines.exposition.otlp_requests import COMPRESSION, LOGS, METRICS, PROTOCOL, Encoding

LINE = (
    b'{"resourceMetrics":[{"resource":{"attributes":'
    b'[{"key":"host.name","value":{"stringValue":"SYSA"}}]}}]}\n'
)


@pytest.mark.parametrize("protobuf", [True, False])
@pytest.mark.parametrize("compressed", [True, False])
def test_a_line_is_a_request(*, protobuf: bool, compressed: bool) -> None:
    encoding = Encoding(protobuf, compressed)
    with collector() as received, OtlpCollector(received.address, METRICS, encoding=encoding) as out:
        assert out.write(LINE) == len(LINE)
        out.write(LINE)
    assert out.requests == 2
    assert [
        attributes(list(request.resource_metrics[0].resource.attributes)) for request in received.metrics
    ] == [{"host.name": "SYSA"}] * 2
    assert received.headers[0].items() >= {
        ("content-type", "application/x-protobuf" if protobuf else "application/json"),
        *({("content-encoding", "gzip")} if compressed else {}),
    }
    assert ("content-encoding" in received.headers[0]) is compressed


def test_the_environment_chooses_the_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Encoding.of_environment() == Encoding(protobuf=True)
    monkeypatch.setenv(PROTOCOL, "http/json")
    assert Encoding.of_environment() == Encoding(protobuf=False)
    monkeypatch.setenv(COMPRESSION, "none")
    assert Encoding.of_environment() == Encoding(protobuf=False, compressed=False)
    monkeypatch.setenv(PROTOCOL, "grpc")
    with pytest.raises(ExportError, match="OTEL_EXPORTER_OTLP_PROTOCOL=grpc: zscope knows http/protobuf and"):
        Encoding.of_environment()


def test_without_the_extra_requests_are_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.proto", None)
    assert Encoding.of_environment() == Encoding(protobuf=False)
    monkeypatch.setenv(PROTOCOL, "http/protobuf")
    with pytest.raises(ExportError, match=r'needs pip install "zscope\[otlp\]"'):
        Encoding.of_environment()


def test_the_address_may_contain_the_path() -> None:
    with collector() as received:
        with OtlpCollector(f"{received.address}/v1/logs", LOGS) as out:
            out.write(b'{"resourceLogs":[]}\n')
        with OtlpCollector(f"{received.address}/", METRICS) as out:
            out.write(LINE)
    assert (len(received.logs), len(received.metrics)) == (1, 1)


def test_a_busy_collector_gets_the_line_again_after_the_pause_that_it_wants() -> None:
    pauses: list[float] = []
    with collector() as received:
        received.answers = [
            (503, "busy", {}),
            (429, "", {"Retry-After": "7"}),
            (502, "", {"Retry-After": "999"}),
        ]
        with OtlpCollector(received.address, METRICS, pauses.append) as out:
            out.write(LINE)
    assert pauses == [1.0, 7.0, 30.0]
    assert len(received.metrics) == 1


def test_retries_end() -> None:
    pauses: list[float] = []
    with collector() as received:
        received.answers = [(503, "busy", {})] * 9
        out = OtlpCollector(received.address, METRICS, pauses.append)
        with pytest.raises(
            ExportError, match=r"in 4 attempts \(503 Service Unavailable: busy\); check the address"
        ):
            out.write(LINE)
        assert len(received.answers) == 5
    assert pauses == [1.0, 2.0, 4.0]


def test_a_refusal_ends_at_once_and_says_how_much_was_accepted() -> None:
    with collector() as received, OtlpCollector(received.address, METRICS) as out:
        out.write(LINE)
        received.answers = [(401, "no token", {})]
        with pytest.raises(ExportError, match="answered 401 Unauthorized: no token; 1 requests before it"):
            out.write(LINE)


def test_values_that_were_not_accepted_are_noted() -> None:
    answer = '{"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"too old"}}'
    with collector() as received, OtlpCollector(received.address, METRICS) as out:
        received.answers = [(200, answer, {}), (200, '{"partialSuccess":{}}', {}), (200, "\x0a\x00", {})]
        for _ in range(3):
            out.write(LINE)
        assert out.rejected == ["3 values not accepted: too old"]


def test_values_that_were_not_accepted_are_noted_from_protobuf() -> None:
    headers = {"Content-Type": "application/x-protobuf"}
    refused = ExportMetricsServiceResponse(
        partial_success=ExportMetricsPartialSuccess(rejected_data_points=3, error_message="too old")
    )
    with collector() as received, OtlpCollector(received.address, METRICS) as out:
        received.answers = [
            (200, refused.SerializeToString(), headers), (200, b"", headers), (200, b"\xff", headers),
        ]  # fmt: skip
        for _ in range(3):
            out.write(LINE)
        assert out.rejected == ["3 values not accepted: too old"]


def test_nobody_listens() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{probe.getsockname()[1]}"
    with pytest.raises(ExportError, match=rf"{address}: no collector took the data .*\(Connection refused\)"):
        OtlpCollector(address, METRICS, lambda _: None).write(LINE)


@pytest.mark.parametrize(
    "address",
    ["http://", "http://:4318", "http://host:x", "http://host:0", "http://a b", "http://[1", "https://ü"],
)
def test_an_unusable_address_is_refused(address: str) -> None:
    with (
        pytest.raises(ExportError, match=r"not an address.*use one such as http://127\.0\.0\.1:4318"),
        OtlpCollector(address, METRICS),
    ):
        pass


def test_further_headers_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HEADERS, "Authorization=Bearer%20abc, x-scope-orgid = z ,")
    with collector() as received, OtlpCollector(received.address, METRICS) as out:
        out.write(LINE)
    assert received.headers[0]["authorization"] == "Bearer abc"
    assert received.headers[0]["x-scope-orgid"] == "z"


@pytest.mark.parametrize("value", ["secret", "a b=secret", "a=secret%0d%0ab: c", "a=secretü"])
def test_an_invalid_header_is_refused_without_showing_its_value(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HEADERS, value)
    with pytest.raises(ExportError, match="expected name=value") as refusal:
        OtlpCollector("http://127.0.0.1:9", METRICS).write(LINE)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("target", "expected"), [("http://a", True), ("HTTPS://a", True), ("http", False), ("x/http://a", False)]
)
def test_addresses_are_told_from_paths(target: str, expected: bool) -> None:
    assert is_address(target) is expected
