import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { requestFields, type RequestFields } from '../../../../proxy/http/request-fields.ts';

const NAMES = [
  'accept',
  'access-control-request-headers',
  'access-control-request-method',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'host',
  'mcp-protocol-version',
  'mcp-session-id',
  'origin',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'sec-fetch-user',
  'sec-purpose',
  'service-worker',
  'service-worker-navigation-preload',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'x-forwarded-for',
] as const satisfies readonly (keyof RequestFields)[];

/** Names that look like those, beside names from elsewhere. */
const OTHERS = ['hosts', 'hos', 'x-forwarded-fo_', '\u212Aost', 'agents', 'constructor', 'x-other'];

const anyCase = (name: string): fc.Arbitrary<string> =>
  fc.mixedCase(fc.constant(name), { toggleCase: (letter) => letter.toUpperCase() });

const line = fc.tuple(
  fc.constantFrom(...NAMES, ...OTHERS).chain(anyCase),
  fc.oneof(fc.string(), fc.constant('')),
);

/** What Node makes of a list. */
function fieldsByNode(list: readonly string[]): IncomingMessage['headers'] {
  const message = new IncomingMessage(new Socket());
  Reflect.apply(Reflect.get(message, '_addHeaderLines') as () => void, message, [
    list,
    list.length,
  ]);
  return message.headers;
}

describe('The fields of a request', () => {
  test("are those of Node's own message", () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const list = lines.flat();
        const fields = requestFields(list);
        const expected = fieldsByNode(list);
        for (const name of NAMES) expect([name, fields[name]]).toEqual([name, expected[name]]);
      }),
      { numRuns: 500 },
    );
  });

  test('cannot be changed', () => {
    const fields = requestFields(['Host', 'a']);
    expect(() => Object.assign(fields, { host: 'b' })).toThrow(TypeError);
    expect(fields.host).toBe('a');
  });
});
