"""Addresses that users gave us lead into the open internet or nowhere."""

import pytest

from genie.lib.outbound import is_public

PUBLIC = """
8.8.8.8 93.184.216.34 1.1.1.1 192.0.1.1 192.88.98.1 2606:4700:4700::1111
2a00:1450:4001:80b::200e 2001:4860:4860::8888 ::ffff:8.8.8.8 64:ff9b::8.8.8.8
"""
# Shared, documentation, tests, metadata of clouds, tunnels, networks inside: IPv4 and IPv6.
OTHERS = """
0.0.0.0 10.0.0.1 100.64.0.1 127.0.0.1 169.254.169.254 172.16.0.1 192.0.0.8
192.0.0.9 192.0.0.170 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.1
192.175.48.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1
255.255.255.255 :: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8
::ffff:127.0.0.1 ::ffff:169.254.169.254 64:ff9b::127.0.0.1 64:ff9b::192.168.0.1
64:ff9b:1::1 64:ff9b:1::8.8.8.8 100::1 100:0:0:1::1 1::1 2001::1
2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:1::1 2001:2::1 2001:10::1 2001:20::1
2001:db8::1 2002:7f00:1::1 2002:808:808::1 2600::5efe:10.0.0.1
2600::200:5efe:10.0.0.1 2620:4f:8000::1 3fff::1 4000::1 5f00::1 fc00::1
fd00:ec2::254 fe80::1 fe80::1%eth0 fec0::1 ff02::1 ffff::1
"""


@pytest.mark.parametrize("address", PUBLIC.split())
def test_an_address_of_the_open_internet_is_public(address):
    assert is_public(address)


@pytest.mark.parametrize("address", OTHERS.split())
def test_any_other_is_not(address):
    assert not is_public(address)
