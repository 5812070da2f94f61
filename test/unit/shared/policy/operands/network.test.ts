import { BlockList } from 'node:net';

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import {
  NetworkList,
  parseIpAddress,
  parseNetwork,
} from '../../../../../shared/policy/operands/network.ts';

/** Few different bytes, so that networks have many of the addresses. */
const byte = fc.constantFrom(0, 1, 127, 128, 255);
const ipv4 = fc.array(byte, { minLength: 4, maxLength: 4 }).map((bytes) => bytes.join('.'));
const group = fc.constantFrom('0', '1', 'ff', 'ffff', '8000', 'FE80');
const ipv6 = fc.oneof(
  fc.array(group, { minLength: 8, maxLength: 8 }).map((groups) => groups.join(':')),
  fc
    .tuple(fc.array(group, { maxLength: 3 }), fc.array(group, { maxLength: 3 }))
    .map(([head, tail]) => `${head.join(':')}::${tail.join(':')}`),
);

function isWithin(address: string, network: string): boolean {
  const parsed = parseNetwork(network);
  const bytes = parseIpAddress(address);
  if (parsed === undefined || bytes === undefined) throw new Error('not parsed');
  return new NetworkList([parsed]).has(bytes);
}

describe('a network', () => {
  test.each([
    ['ipv4', ipv4, 32],
    ['ipv6', ipv6, 128],
  ] as const)('has the %s addresses that the list of Node has', (family, address, maxBits) => {
    fc.assert(
      fc.property(address, address, fc.nat(maxBits), (one, other, bits) => {
        const list = new BlockList();
        list.addSubnet(one, bits, family);
        // Node counts IPv4 addresses in their IPv6 form as IPv4.
        fc.pre(![one, other].some((text) => parseIpAddress(text)?.length !== maxBits / 16));

        expect(isWithin(other, `${one}/${String(bits)}`)).toBe(list.check(other, family));
      }),
      { numRuns: 1_000 },
    );
  });

  test('is found in a list of networks of both families and of any lengths', () => {
    const network = fc.oneof(
      fc.tuple(ipv4, fc.nat(32)).map(([address, bits]) => `${address}/${String(bits)}`),
      fc
        .tuple(ipv6, fc.integer({ min: 96, max: 128 }))
        .map(([address, bits]) => `${address}/${String(bits)}`),
    );
    fc.assert(
      fc.property(fc.array(network, { maxLength: 5 }), fc.oneof(ipv4, ipv6), (texts, address) => {
        const list = new NetworkList(texts.flatMap((text) => parseNetwork(text) ?? []));
        const bytes = parseIpAddress(address) ?? [];

        expect(list.has(bytes)).toBe(texts.some((text) => isWithin(address, text)));
      }),
    );
  });

  test('of one address has this address only', () => {
    fc.assert(
      fc.property(fc.oneof(ipv4, ipv6), fc.oneof(ipv4, ipv6), (one, other) => {
        const isSame =
          JSON.stringify(parseIpAddress(one)) === JSON.stringify(parseIpAddress(other));

        expect(isWithin(other, one)).toBe(isSame);
      }),
    );
  });

  test('has IPv4 addresses in their IPv6 form', () => {
    fc.assert(
      fc.property(ipv4, ipv4, fc.nat(32), (one, other, bits) => {
        const [plain, mapped] = [`${one}/${String(bits)}`, `::ffff:${one}/${String(bits + 96)}`];
        const expected = isWithin(other, plain);

        expect(isWithin(`::ffff:${other}`, plain)).toBe(expected);
        expect(isWithin(other, mapped)).toBe(expected);
        expect(isWithin(`::FFFF:${other}`, mapped)).toBe(expected);
      }),
    );
  });

  test.each([
    ...['', '/', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0', '10.0.0.256', '010.0.0.1'],
    ...[
      '0x0a.0.0.1',
      '10.0.0.1 ',
      '10.0.0.0/8/8',
      '::/129',
      '::1::',
      ':::',
      'fe80::1/64%eth0',
      'fe80::1%eth0',
      '10.0.0.1%a',
    ],
    ...['[::1]', '::ffff:10.0.0.0/8', '1:2:3:4:5:6:7:8:9', 'localhost', '::1]/x', '10.0.0.0/0x8'],
  ])('is not %j', (text) => {
    expect(parseNetwork(text)).toBeUndefined();
  });
});
