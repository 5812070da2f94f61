import { describe, expect, test } from '@jest/globals';
import { assert, nat, property, uint8Array } from 'fast-check';

import { parseClientHello } from '../../../../../proxy/server/tls/parse-client-hello.ts';
import { clientHello, clientHelloWith } from '../../../../support/tls/client-hello.ts';

/** Splits the message into records of at most this length. */
function inRecords(hello: Buffer, length: number): Buffer {
  const message = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += length) {
    const part = message.subarray(at, at + length);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 0xff]), part);
  }
  return Buffer.concat(records);
}

describe('parseClientHello', () => {
  test('reads the name of the server at every split', async () => {
    const hello = await clientHello('App.Example.com');
    for (let length = 0; length < hello.length; length += 1) {
      const needed = parseClientHello(hello.subarray(0, length));
      expect(typeof needed).toBe('number');
      expect(Number(needed)).toBeGreaterThan(length);
      expect(Number(needed)).toBeLessThanOrEqual(hello.length);
    }
    expect(parseClientHello(hello)).toEqual({ serverName: 'app.example.com' });
  });

  test('reads a message in several records', async () => {
    const hello = await clientHello('app.example.com');
    expect(parseClientHello(inRecords(hello, Math.ceil(hello.length / 7)))).toEqual({
      serverName: 'app.example.com',
    });
  });

  test('refuses a message in more records than clients use', async () => {
    const hello = await clientHello('app.example.com');
    expect(parseClientHello(inRecords(hello, 10))).toBeUndefined();
  });

  test('reads a message without a name', async () => {
    expect(parseClientHello(await clientHello())).toEqual({});
  });

  test.each([
    ['a NUL', 'a\0.example.com'],
    ['a zone', 'fe80::1%x.example.com'],
    ['an empty label', 'a..example.com'],
    ['more characters than a name has', `${'a.'.repeat(122)}example.com`],
  ])('finds no name in one with %s', async (_name, name) => {
    expect(parseClientHello(await clientHelloWith(name))).toEqual({});
  });

  test.each([
    ['another record', '150303000202'],
    ['another message', '160301000402000000'],
    ['an empty record', '1603010000'],
    ['a message that is too long', '160301000401010000'],
    ['a message that ends in its random', '160301000a0100000603030000000000'.slice(0, 30)],
  ])('refuses %s', (_name, hex) => {
    expect(parseClientHello(Buffer.from(hex, 'hex'))).toBeUndefined();
  });

  test('never throws, whatever was changed on the way', async () => {
    const hello = await clientHello('app.example.com');
    assert(
      property(nat(hello.length), uint8Array({ maxLength: 8 }), (at, change) => {
        const bytes = Buffer.from(hello);
        bytes.set(change.subarray(0, bytes.length - at), at);
        const found = parseClientHello(bytes);
        const needed = typeof found === 'number' ? found : Infinity;
        expect(needed).toBeGreaterThan(bytes.length);
      }),
    );
  });
});
