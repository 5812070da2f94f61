import { describe, expect, test } from '@jest/globals';

import { isLoopbackAddress, isPublicAddress } from '../../../../proxy/outbound/public-address.ts';

describe('isPublicAddress', () => {
  test.each([
    ['0.0.0.0', 'this network'],
    ['0.255.255.255', 'this network'],
    ['10.0.0.1', 'private use'],
    ['10.255.255.255', 'private use'],
    ['100.64.0.1', 'carrier-grade NAT'],
    ['100.127.255.255', 'carrier-grade NAT'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['169.254.169.254', 'the metadata service of a cloud'],
    ['172.16.0.1', 'private use'],
    ['172.31.255.255', 'private use'],
    ['192.0.0.8', 'protocol assignments'],
    ['192.0.2.1', 'documentation'],
    ['192.88.99.1', '6to4 relays'],
    ['192.168.1.1', 'private use'],
    ['198.18.0.1', 'benchmarking'],
    ['198.19.255.255', 'benchmarking'],
    ['198.51.100.7', 'documentation'],
    ['203.0.113.7', 'documentation'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::7f00:1', 'IPv4-compatible'],
    ['::127.0.0.1', 'IPv4-compatible'],
    ['::ffff:127.0.0.1', 'IPv4-mapped loopback'],
    ['::ffff:7f00:1', 'IPv4-mapped loopback'],
    ['::ffff:10.1.2.3', 'IPv4-mapped private use'],
    ['::ffff:169.254.169.254', 'the IPv4-mapped metadata service of a cloud'],
    ['::ffff:0:0', 'IPv4-mapped unspecified'],
    ['64:ff9b::10.0.0.1', 'NAT64 of private use'],
    ['64:ff9b::7f00:1', 'NAT64 of loopback'],
    ['64:ff9b::', 'NAT64 of unspecified'],
    ['64:ff9b:1::8.8.8.8', 'local-use NAT64'],
    ['100::1', 'discard-only'],
    ['2001::1', 'Teredo'],
    ['2001:1ff:ffff::1', 'protocol assignments'],
    ['2001:db8::1', 'documentation'],
    ['2002:0808:0808::1', '6to4'],
    ['2002:7f00:1::', '6to4 of loopback'],
    ['3fff::1', 'documentation'],
    ['3fff:fff:ffff::1', 'documentation'],
    ['5f00::1', 'segment routing'],
    ['fc00::1', 'unique local'],
    ['fd12:3456::1', 'unique local'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local with a zone'],
    ['febf::1', 'link-local'],
    ['fec0::1', 'site-local'],
    ['ff02::1', 'multicast'],
    ['4000::1', 'not allocated'],
    ['', 'not an address'],
    ['localhost', 'not an address'],
    ['8.8.8', 'not an address'],
  ])('refuses %s (%s)', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each([
    ['1.1.1.1'],
    ['8.8.8.8'],
    ['9.255.255.255'],
    ['11.0.0.0'],
    ['100.63.255.255'],
    ['100.128.0.0'],
    ['172.15.255.255'],
    ['172.32.0.0'],
    ['192.0.1.0'],
    ['198.17.255.255'],
    ['198.20.0.0'],
    ['223.255.255.255'],
    ['2606:4700::1111'],
    ['2001:200::1'],
    ['2001:4860:4860::8888'],
    ['2003::1'],
    ['3ffe::1'],
    ['::ffff:8.8.8.8'],
    ['64:ff9b::8.8.8.8'],
    ['64:ff9b::808:808'],
    ['64:ff9b::0801:0'],
  ])('accepts %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each([
    ['10.1.2.3', ['10.1.0.0/16'], true],
    ['10.2.0.1', ['10.1.0.0/16'], false],
    ['::ffff:10.1.2.3', ['10.1.0.0/16'], true],
    ['64:ff9b::10.1.2.3', ['10.1.0.0/16'], true],
    ['fd00::1', ['10.0.0.0/8', 'fd00::/8'], true],
    ['fc00::1', ['fd00::/8'], false],
    ['::1', ['::1/128'], true],
    ['192.168.1.1', ['192.168.1.1'], true],
    ['192.168.1.2', ['192.168.1.1'], false],
    ['fd00::2', ['fd00::1'], false],
    ['8.8.8.8', ['10.0.0.0/8'], true],
  ])('with allowed networks, judges %s with %j as %s', (address, allowed, expected) => {
    expect(isPublicAddress(address, allowed)).toBe(expected);
  });
});

describe('isLoopbackAddress', () => {
  test.each([
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['126.0.0.1', false],
    ['::2', false],
    ['10.0.0.1', false],
    ['localhost', false],
  ])('returns for %s: %s', (address, expected) => {
    expect(isLoopbackAddress(address)).toBe(expected);
  });
});
