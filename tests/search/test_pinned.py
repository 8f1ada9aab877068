"""Searches from pinned seeds find what they have always found: see `pinned.py`."""

import pytest

from tests.search import pinned

EXPECTED = {
    ("chameleon", "default"): "1c72a9331461afd1",
    ("chameleon", "plain, no solver, 5 at once"): "15f8b7ad32107996",
    ("chameleon", "early stop, 3 at once"): "58f7bc456e216f53",
    ("chameleon", "threads, two playouts"): "1949d5545bdd88b0",
    ("chameleon", "reuse"): "b82df549de3bd9b2",
    ("chameleon", "network"): "03428d84992f9f38",
    ("chameleon", "network, noise, 4 at once"): "7973fd4e2eff5082",
    ("chameleon", "network, reuse"): "6692567796022526",
    ("unlur", "default"): "ec00ecf1810ea70c",
    ("unlur", "plain, no solver, 5 at once"): "69974a9314c494ba",
    ("unlur", "early stop, 3 at once"): "739829fa92bcd978",
    ("unlur", "threads, two playouts"): "2333b524ad688ca2",
    ("unlur", "reuse"): "9db33e28949d6917",
    ("unlur", "network"): "403ce772e94490a3",
    ("unlur", "network, noise, 4 at once"): "458be570810a722d",
    ("unlur", "network, reuse"): "2745156602e07307",
    ("trinim", "default"): "072b476773682bc1",
    ("trinim", "plain, no solver, 5 at once"): "ce7379d9fcc324ee",
    ("trinim", "early stop, 3 at once"): "780da0a644fedc73",
    ("trinim", "threads, two playouts"): "87f82a06783903e4",
    ("trinim", "reuse"): "79fb95a60f01814b",
    ("trinim", "network"): "ce052c2e98347344",
    ("trinim", "network, noise, 4 at once"): "06c884c7b058a2db",
    ("trinim", "network, reuse"): "833da9e936574853",
    ("trinim of three", "default"): "f26b4ac7f55ada26",
    ("trinim of three", "plain, no solver, 5 at once"): "525bdb73b712e5be",
    ("trinim of three", "early stop, 3 at once"): "1213eaa6547ba53d",
    ("trinim of three", "threads, two playouts"): "9cfd2bc9140e184c",
    ("trinim of three", "reuse"): "3be1eab34f97ce13",
    ("trinim of three", "network"): "68ccd3eabc1b3ba8",
    ("trinim of three", "network, noise, 4 at once"): "eb8b85f27732ec30",
    ("trinim of three", "network, reuse"): "1578d09127ca3071",
    ("curio", "default"): "df1335457b724c99",
    ("curio", "plain, no solver, 5 at once"): "ded0d3d72d74c3c0",
    ("curio", "early stop, 3 at once"): "94edd3b6ebe00dee",
    ("curio", "threads, two playouts"): "dec101f122bc1bf8",
    ("curio", "reuse"): "e3b6a3aebd37024e",
    ("curio", "network"): "7c1c4150033695b6",
    ("curio", "network, noise, 4 at once"): "57bd6f5983978881",
    ("curio", "network, reuse"): "d07cc9ae81db6db5",
}


@pytest.mark.parametrize(("name", "setting"), EXPECTED)
def test_a_search_finds_what_it_always_found(name, setting):
    assert pinned.run(name, setting) == EXPECTED[name, setting]


def test_every_case_is_pinned():
    assert set(EXPECTED) == {(name, setting) for name in pinned.GAMES for setting in pinned.SETTINGS}
