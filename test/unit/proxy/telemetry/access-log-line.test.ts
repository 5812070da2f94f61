import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

import { expect, test } from '@jest/globals';
import fc from 'fast-check';

import { AccessLog, type AccessRecord } from '../../../../proxy/telemetry/access-log.ts';
import { LineWriter } from '../../../../shared/telemetry/line-writer.ts';

const NOW = Date.UTC(2026, 7, 1, 12, 0, 0, 5);

const START = {
  level: 'info',
  service: 'access',
  time: '2026-08-01T12:00:00.005Z',
  message: 'request',
  'request-id': 'r-1',
};

/** The line about a request. */
function lineOf(record: Omit<AccessRecord, 'requestId'>): string {
  let written = '';
  const lines = new LineWriter({ write: (text) => (written += text) });
  new AccessLog(lines, () => NOW).write({ requestId: 'r-1', ...record });
  lines.flush();
  return written;
}

const text = fc.string({ unit: fc.constantFrom('a', '/', '"', '\\', '\n', '\u2028', '\ud800') });

test('a line of the access log is what JSON.stringify makes of the record', () => {
  const texts = fc.record({ method: text, authority: text, path: text, route: text });
  const numbers = fc.tuple(fc.double({ min: 0, max: 1e7, noNaN: true }), fc.nat());
  fc.assert(
    fc.property(texts, numbers, ({ method, authority, path, route }, [ms, bytes]) => {
      const message = new IncomingMessage(new Socket());
      const request = { id: 'r-1', method, authority, path, query: '', message };
      const upstream = 'http://192.0.2.7:80';
      const rounded = Math.round(ms * 1_000) / 1_000;
      const line = lineOf({
        request: { ...request, remoteAddress: '2001:db8::1' },
        route,
        response: { status: 200, bytes, ended: 'cut-off', upstream, firstByteMs: ms },
        durationMs: ms,
      });
      const expected = {
        ...START,
        client: '2001:db8::1',
        method,
        host: authority,
        path,
        route,
        status: 200,
        bytes,
        ended: 'cut-off',
        upstream,
        'first-byte-ms': rounded,
        'duration-ms': rounded,
      };
      expect(line).toBe(`${JSON.stringify(expected)}\n`);
    }),
  );
});

test.each<[string, AccessRecord['response'], object]>([
  ['the client left', undefined, { ended: 'client-gone' }],
  ['the gateway answered', { status: 400, bytes: 3 }, { status: 400, bytes: 3, ended: 'complete' }],
])('a line has no more than is known if %s', (_case, response, members) => {
  const line = lineOf({ request: undefined, route: undefined, response, durationMs: 1.5 });
  expect(line).toBe(`${JSON.stringify({ ...START, ...members, 'duration-ms': 1.5 })}\n`);
});

// Strangers would fill the disk of the log.
test('a long path is cut in the line', () => {
  const message = new IncomingMessage(new Socket());
  const path = `/${'a'.repeat(7_999)}`;
  const caller = { remoteAddress: '192.0.2.1', method: 'GET', authority: 'a.example' };
  const line = lineOf({
    request: { id: 'r-1', ...caller, path, query: '', message },
    route: undefined,
    response: undefined,
    durationMs: 1,
  });
  expect(JSON.parse(line)).toMatchObject({ path: `${path.slice(0, 2_048)}...` });
});
