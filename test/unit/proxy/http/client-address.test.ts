import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { clientAddressBehind } from '../../../../proxy/http/client-address.ts';

const TRUSTED = ['10.0.0.0/24', '2001:db8:aaaa::/48', 'fe80::/10', '::ffff:10.9.0.0/112'];
const BALANCER = '10.0.0.1';
const CLIENT = '192.0.2.7';

function clientOf(
  peer: string | undefined,
  forwardedFor?: string,
  trusted: readonly string[] = TRUSTED,
): string {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: peer });
  const message = new IncomingMessage(socket);
  if (forwardedFor !== undefined) message.headers['x-forwarded-for'] = forwardedFor;
  return clientAddressBehind(trusted)(message);
}

describe('without a trusted peer', () => {
  test.each([
    ['nobody is trusted', CLIENT, []],
    ['nobody is trusted, not even this machine', '127.0.0.1', []],
    ['the peer is not trusted', CLIENT, TRUSTED],
    ['the peer is next to a trusted one', '10.0.1.1', TRUSTED],
    ['the peer only looks like a trusted one', '2001:db8:aaab::1', TRUSTED],
  ])('the header is ignored: %s', (_title, peer, trusted) => {
    expect(clientOf(peer, '198.51.100.1', trusted)).toBe(peer);
    expect(clientOf(peer, `198.51.100.1, ${BALANCER}`, trusted)).toBe(peer);
  });

  test('an IPv4 peer of a dual-stack socket has its IPv4 address', () => {
    expect(clientOf('::ffff:192.0.2.7', undefined, [])).toBe(CLIENT);
  });

  test('a peer that has left has no address', () => {
    expect(clientOf(undefined, CLIENT)).toBe('');
  });
});

describe('of a request from a trusted proxy, the client is', () => {
  test.each([
    ['whom the proxy appended', CLIENT],
    // Attack: a client that sends the header itself, to be somebody else.
    ['not whom the client claims to be', `198.51.100.1, 203.0.113.9, ${CLIENT}`],
    // Attack: the same, with the address of a trusted proxy.
    ['not whom a client in a proxy’s name claims to be', `198.51.100.1, 10.0.0.9, ${CLIENT}`],
    ['whom the first of two trusted proxies heard', `198.51.100.1, ${CLIENT}, 10.0.0.2`],
    ['whom it heard, in another spelling', `::1,${CLIENT} ,\t2001:DB8:AAAA:0::5, [fe80::1]:443`],
    ['whom it heard, behind one in mapped spelling', `${CLIENT}, ::ffff:10.0.0.2, 10.9.3.4`],
  ])('%s', (_title, forwardedFor) => {
    expect(clientOf(BALANCER, forwardedFor)).toBe(CLIENT);
    expect(clientOf(`::ffff:${BALANCER}`, forwardedFor)).toBe(CLIENT);
    expect(clientOf('2001:db8:aaaa::1', forwardedFor)).toBe(CLIENT);
    expect(clientOf('fe80::1%eth0', forwardedFor)).toBe(CLIENT);
  });

  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:5678', '192.0.2.7'],
    ['2001:db8::7', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['[2001:db8::7]:5678', '2001:db8::7'],
    ['2001:DB8:0:0:0:0:0:7', '2001:db8::7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['[::FFFF:c000:0207]:1', '192.0.2.7'],
  ])('the address in %s', (entry, address) => {
    expect(clientOf(BALANCER, entry)).toBe(address);
  });

  test('the leftmost if all are trusted', () => {
    expect(clientOf(BALANCER, '10.0.0.4, 10.0.0.3, 10.0.0.2')).toBe('10.0.0.4');
  });

  test('the proxy itself if it sends no address', () => {
    expect(clientOf(BALANCER)).toBe(BALANCER);
    expect(clientOf(BALANCER, '')).toBe(BALANCER);
  });

  test.each([
    ...[
      'unknown',
      '_hidden',
      '',
      'client.example',
      '"192.0.2.7"',
      '192.0.2.7:',
      '192.0.2.7:123456',
    ],
    ...['192.0.2', '192.0.2.256', '0192.0.2.7', '192.0.2.7/32', '3221225991', '192.0.2.7 10.0.0.2'],
    ...[
      '[192.0.2.7]',
      '2001:db8::7::',
      '[2001:db8::7',
      '2001:db8::7]',
      '[2001:db8::7]x',
      '[]',
      ':',
    ],
    ...['fe80::7%eth0', `::${'0'.repeat(60)}7`, '1'.repeat(9_000)],
  ])('the last valid hop before %j', (entry) => {
    expect(clientOf(BALANCER, `${CLIENT}, ${entry}`)).toBe(BALANCER);
    expect(clientOf(BALANCER, `${CLIENT}, ${entry}, 10.0.0.2`)).toBe('10.0.0.2');
    expect(clientOf(BALANCER, `${entry}, ${CLIENT}`)).toBe(CLIENT);
  });

  // Attack: a header as long as can be, to keep the gateway busy.
  test('never more than 32 proxies away', () => {
    const hops = Array.from({ length: 1_500 }, () => '10.0.0.2').join(',');
    expect(clientOf(BALANCER, `${CLIENT},${hops}`)).toBe('10.0.0.2');
  });

  test('always an address, and never one that an untrusted client wrote', () => {
    const addresses = fc.oneof(fc.ipV4(), fc.ipV6());
    const anything = fc.oneof(addresses, fc.string(), fc.constantFrom('unknown', BALANCER, ''));
    fc.assert(
      fc.property(fc.array(anything), addresses, (claimed, actual) => {
        const claims = [...claimed, actual].join(',');
        expect(clientOf(BALANCER, claims, [`${BALANCER}/32`])).toBe(
          clientOf(BALANCER, actual, [`${BALANCER}/32`]),
        );
      }),
    );
  });
});
