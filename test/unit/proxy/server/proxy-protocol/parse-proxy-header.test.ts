import { describe, expect, test } from '@jest/globals';
import { array, assert, constantFrom, property, uint8Array } from 'fast-check';

import { parseProxyHeader } from '../../../../../proxy/server/proxy-protocol/parse-proxy-header.ts';

const SIGNATURE = '0d0a0d0a000d0a515549540a';
const IPV4 = 'c6336407cb007101d4310050';
const IPV6 = '20010db8000000000000000000000007'.padEnd(64, '0') + 'd4310050';

function v1(line: string): Buffer {
  return Buffer.from(`${line}\r\n`, 'latin1');
}

/** Version and command, family, and the rest; the length is that of the rest unless it is given. */
function v2(start: string, rest: string, length = rest.length / 2): Buffer {
  const size = length.toString(16).padStart(4, '0');
  return Buffer.from(SIGNATURE + start + size + rest, 'hex');
}

describe('parseProxyHeader', () => {
  test.each([
    ['version 1, IPv4', v1('PROXY TCP4 198.51.100.7 203.0.113.1 54321 443'), '198.51.100.7'],
    ['version 1, IPv6', v1('PROXY TCP6 2001:DB8:0::7 2001:db8::1 54321 443'), '2001:db8::7'],
    ['version 1, mapped IPv4', v1('PROXY TCP6 ::ffff:198.51.100.7 ::1 1 2'), '198.51.100.7'],
    ['version 1 without addresses', v1('PROXY UNKNOWN'), undefined],
    ['version 1 with unknown addresses', v1('PROXY UNKNOWN ffff:f::ff ::1 65535 65535'), undefined],
    ['version 2, IPv4', v2('2111', IPV4), '198.51.100.7'],
    ['version 2, IPv6', v2('2121', IPV6), '2001:db8::7'],
    ['version 2 with additions', v2('2111', `${IPV4}040003aabbcc`), '198.51.100.7'],
    ['version 2, LOCAL', v2('2000', ''), undefined],
    ['version 2, LOCAL with addresses', v2('2011', IPV4), undefined],
    ['version 2, PROXY without a family', v2('2100', ''), undefined],
    ['version 2 of a Unix socket', v2('2131', '00'.repeat(216)), undefined],
  ])('reads %s at every split', (_name, header, address) => {
    const bytes = Buffer.concat([header, Buffer.from('GET / HTTP/1.1\r\n')]);
    for (let length = 1; length < header.length; length += 1) {
      const found = parseProxyHeader(bytes.subarray(0, length));
      const needed = found.kind === 'need' ? found.bytes : NaN;
      expect(needed).toBeGreaterThan(length);
      expect(needed).toBeLessThanOrEqual(header.length);
    }
    const expected = { kind: 'header', length: header.length, address };
    expect(parseProxyHeader(header)).toEqual(expected);
    expect(parseProxyHeader(bytes)).toEqual(expected);
  });

  test.each([
    ['another family', v1('PROXY UDP4 198.51.100.7 203.0.113.1 1 2')],
    ['an IPv6 address as IPv4', v1('PROXY TCP4 ::1 203.0.113.1 1 2')],
    ['an IPv4 address as IPv6', v1('PROXY TCP6 198.51.100.7 203.0.113.1 1 2')],
    ['a zone', v1('PROXY TCP6 fe80::1%eth0 ::1 1 2')],
    ['leading zeros', v1('PROXY TCP4 198.51.100.07 203.0.113.1 1 2')],
    ['a port beyond the last', v1('PROXY TCP4 198.51.100.7 203.0.113.1 65536 2')],
    ['a port with a leading zero', v1('PROXY TCP4 198.51.100.7 203.0.113.1 01 2')],
    ['a missing port', v1('PROXY TCP4 198.51.100.7 203.0.113.1 1')],
    ['two spaces', v1('PROXY TCP4  198.51.100.7 203.0.113.1 1 2')],
    ['something behind the ports', v1('PROXY TCP4 198.51.100.7 203.0.113.1 1 2 3')],
    ['a line feed alone', Buffer.from('PROXY UNKNOWN\nGET / HTTP/1.1\r\n\r\n')],
    ['a line that does not end', Buffer.from('PROXY UNKNOWN '.padEnd(107, 'x'))],
    ['version 3', v2('3111', IPV4)],
    ['an unknown command', v2('2211', IPV4)],
    ['datagrams', v2('2112', IPV4)],
    ['an unknown family', v2('2141', IPV4)],
    ['addresses that are too short', v2('2111', IPV4.slice(2))],
    ['more additions than a header may have', v2('2111', IPV4, 4097)],
  ])('refuses a header with %s', (_name, bytes) => {
    expect(parseProxyHeader(bytes)).toEqual({ kind: 'malformed' });
  });

  test.each([
    ['a request', 'POST / HTTP/1.1\r\n'],
    ['a request whose method begins alike', 'PROPFIND / HTTP/1.1\r\n'],
    ['a handshake', '\x16\x03\x01'],
    ['an empty line before a request', '\r\nGET / HTTP/1.1\r\n'],
  ])('tells %s from a header', (_name, text) => {
    expect(parseProxyHeader(Buffer.from(text, 'latin1'))).toEqual({ kind: 'none' });
  });

  test('never throws, and never asks for less than it has', () => {
    const start = constantFrom(Buffer.from('PROXY '), Buffer.from(`${SIGNATURE}2111`, 'hex'));
    assert(
      property(start, array(uint8Array({ maxLength: 60 })), (prefix, parts) => {
        const bytes = Buffer.concat([prefix, ...parts]);
        const found = parseProxyHeader(bytes);
        const needed = found.kind === 'need' ? found.bytes : Infinity;
        expect(needed).toBeGreaterThan(bytes.length);
      }),
    );
  });
});
