"""Merkle trees against published roots, and against the RFC's own definitions."""

import hashlib
from functools import partial

import pytest

from genie.history import merkle

# Test vectors of the certificate-transparency project: leaves, and the roots of trees
# of the first n of them (github.com/google/certificate-transparency, merkle_tree_test).
LEAVES = [
    bytes.fromhex(text)
    for text in [
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    ]
]  # fmt: skip
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
N = 35


def mth(leaves):
    """Define MTH as section 2.1.1 does, from all leaves."""
    if not leaves:
        return hashlib.sha256().digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    k = max(2**i for i in range(10) if 2**i < len(leaves))
    return hashlib.sha256(b"\x01" + mth(leaves[:k]) + mth(leaves[k:])).digest()


def tree(leaves):
    nodes = {}

    def node(level, place):
        return nodes[level, place]

    for index, leaf in enumerate(leaves):
        hashes = merkle.completed_hashes(node, index, merkle.leaf_hash(leaf))
        nodes |= {(k, index >> k): one for k, one in enumerate(hashes)}
    return node


@pytest.fixture(scope="module")
def many():
    leaves = [str(i).encode() for i in range(N)]
    return leaves, tree(leaves), [mth(leaves[:n]) for n in range(N + 1)]


@pytest.mark.parametrize("n", range(len(ROOTS)))
def test_roots_are_the_published_ones(n):
    assert merkle.root(tree(LEAVES[:n]), n).hex() == ROOTS[n]
    assert mth(LEAVES[:n]).hex() == ROOTS[n]


def test_the_published_proofs_are_made():
    # PATH(5, D[8]) and PROOF(6, D[8]) of the same vectors
    node = tree(LEAVES)
    assert [one.hex()[:8] for one in merkle.inclusion(node, 5, 8)] == [
        "bc1a0643", "ca854ea1", "d37ee418"
    ]  # fmt: skip
    assert [one.hex()[:8] for one in merkle.consistency(node, 6, 8)] == [
        "0ebc5d34", "ca854ea1", "d37ee418"
    ]  # fmt: skip


def test_every_leaf_of_every_tree_is_proved_and_no_other(many):
    leaves, node, roots = many
    for size in range(1, N + 1):
        assert merkle.root(node, size) == roots[size]
        for index in range(size):
            path = merkle.inclusion(node, index, size)
            assert len(path) <= (size - 1).bit_length()
            leaf = merkle.leaf_hash(leaves[index])
            assert merkle.includes(leaf, index, size, path, roots[size])
            wrong = [
                merkle.includes(merkle.leaf_hash(b"x"), index, size, path, roots[size]),
                merkle.includes(leaf, index, size, path, roots[size - 1]),
                merkle.includes(leaf, index, size, [*path, leaf], roots[size]),
                merkle.includes(leaf, size, size, path, roots[size]),
                bool(path)
                and merkle.includes(leaf, index, size, path[1:], roots[size]),
                size > 1
                and merkle.includes(leaf, (index + 1) % size, size, path, roots[size]),
            ]
            assert not any(wrong), (index, size)


def test_every_earlier_tree_is_proved_and_no_other(many):
    _, node, roots = many
    for size in range(N + 1):
        for first in range(size + 1):
            path = merkle.consistency(node, first, size)
            holds = partial(merkle.continues, first, roots[first], size, roots[size])
            assert holds(path)
            other = merkle.leaf_hash(b"x")
            wrong = [
                merkle.continues(first, other, size, roots[size], path),
                merkle.continues(first, roots[first], size, other, path) and first > 0,
                holds([*path, other]),
                bool(path) and holds(path[:-1]),
            ]
            assert not any(wrong), (first, size)


@pytest.mark.parametrize(("index", "size"), [(0, 0), (3, 3), (-1, 3)])
def test_no_proof_of_what_is_not_there(index, size):
    with pytest.raises(ValueError, match="no leaf"):
        merkle.inclusion(tree(LEAVES), index, size)
    with pytest.raises(ValueError, match="does not begin"):
        merkle.consistency(tree(LEAVES), size + 1, size)
