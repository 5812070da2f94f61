import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { AccessLog, type AccessRecord } from '../../../../proxy/telemetry/access-log.ts';
import {
  ACCESS_LOG_FIELDS,
  type AccessLogField,
  type CompiledAccessLog,
} from '../../../../shared/snapshot/log-fields.ts';
import { logJson } from '../../../../shared/telemetry/json-string.ts';
import { LineWriter } from '../../../../shared/telemetry/line-writer.ts';

const NOW = Date.UTC(2026, 7, 1, 12, 0, 0, 5);

const FRAME = { level: 'info', service: 'access', time: '2026-08-01T12:00:00.005Z' };
const START = { ...FRAME, message: 'request', 'request-id': 'r-1' };

/** A log whose clock stands at 100 ms, and what it wrote. */
function openLog(isForced = false): { log: AccessLog; written: () => string } {
  let written = '';
  const lines = new LineWriter({ write: (text) => (written += text) });
  const log = new AccessLog(lines, { isForced, now: () => NOW, clock: () => 100 });
  return {
    log,
    written: () => {
      lines.flush();
      return written;
    },
  };
}

const NOTHING = { request: undefined, route: undefined, sent: undefined };

/** The line about a request that began at 0 ms, with these fields or the default ones. */
function lineOf(
  record: Omit<AccessRecord, 'requestId' | 'startedAt'>,
  fields?: readonly AccessLogField[],
): string {
  const { log, written } = openLog(fields === undefined);
  const accessLog = fields && { mode: 'All' as const, fields };
  log.write({ requestId: 'r-1', startedAt: 0, ...record }, accessLog ? { accessLog } : {});
  return written();
}

function aRequest(overrides: object = {}): NonNullable<AccessRecord['request']> {
  const caller = { remoteAddress: '192.0.2.1', method: 'GET', authority: 'a.example' };
  const message = new IncomingMessage(new Socket());
  return { id: 'r-1', ...caller, path: '/', query: '', message, ...overrides };
}

const ROUTE = { compiled: { name: 'default/a' } };

const FORWARDED = {
  ...{ status: 200, bytes: 3, ended: 'complete', upstream: 'http://192.0.2.7:80' },
  ...{ sentAt: 1.25, firstByteMs: 9.5 },
} as const;

const text = fc.string({ unit: fc.constantFrom('a', '/', '"', '\\', '\n', '\u2028', '\ud800') });

test('a line of the access log is the JSON of the record', () => {
  const texts = fc.record({ method: text, authority: text, path: text, name: text });
  const numbers = fc.tuple(fc.double({ min: 0, max: 1e7, noNaN: true }), fc.nat());
  fc.assert(
    fc.property(texts, numbers, ({ method, authority, path, name }, [ms, bytes]) => {
      const sent = { ...FORWARDED, bytes, ended: 'cut-off', firstByteMs: ms } as const;
      const line = lineOf({
        request: aRequest({ method, authority, path, query: '?a=b' }),
        route: { compiled: { name } },
        sent,
      });
      const expected = {
        ...{ ...START, method, host: authority, path, route: name },
        ...{ status: 200, bytes, ended: 'cut-off', upstream: sent.upstream },
        'first-byte-ms': Math.round(ms * 1_000) / 1_000,
        ...{ 'upstream-ms': 98.75, 'gateway-ms': 1.25, 'duration-ms': 100 },
      };
      expect(line).toBe(`${logJson(expected)}\n`);
    }),
  );
});

test.each<[string, AccessRecord['sent'], object]>([
  ['the client left', undefined, { ended: 'client-gone' }],
  ['the gateway answered', { status: 400, bytes: 3 }, { status: 400, bytes: 3, ended: 'complete' }],
])('a line has no more than is known if %s', (_case, sent, members) => {
  const line = lineOf({ ...NOTHING, sent });
  expect(line).toBe(`${JSON.stringify({ ...START, ...members, 'duration-ms': 100 })}\n`);
});

// Strangers would fill the disk of the log.
test('a long path is cut in the line', () => {
  const path = `/${'a'.repeat(7_999)}`;
  const line = lineOf({ ...NOTHING, request: aRequest({ path }) });
  expect(JSON.parse(line)).toMatchObject({ path: `${path.slice(0, 2_048)}...` });
});

describe('the fields of the access log', () => {
  const request = aRequest({ query: '?code=secret', trace: { context: { traceId: 't-1' } } });

  test('are those that are listed, in the order of all fields, whatever the setting', () => {
    const all = lineOf({ request, route: ROUTE, sent: FORWARDED }, ACCESS_LOG_FIELDS.toReversed());
    expect(Object.entries(JSON.parse(all) as object)).toEqual(
      Object.entries({
        ...{ ...START, method: 'GET', host: 'a.example', path: '/' },
        ...{ query: 'code', 'query-values': 'code=secret', ip: '192.0.2.1', route: 'default/a' },
        ...{ status: 200, bytes: 3, ended: 'complete', upstream: FORWARDED.upstream },
        ...{ 'first-byte-ms': 9.5, 'upstream-ms': 98.75, 'gateway-ms': 1.25 },
        ...{ 'duration-ms': 100, 'trace-id': 't-1' },
      }),
    );
    const few = lineOf({ request, route: ROUTE, sent: FORWARDED }, ['status', 'headers.Host']);
    expect(JSON.parse(few)).toEqual({ ...FRAME, message: 'request', status: 200 });
  });

  test('have no address and no query unless they are listed', () => {
    const line = lineOf({ request, route: ROUTE, sent: FORWARDED });
    for (const text of ['192.0.2.1', 'code', 't-1']) expect(line).not.toContain(text);
  });

  // The identity provider sends codes to the gateway's own endpoints.
  test('have no values of a query that was for no route', () => {
    const line = lineOf({ request, route: undefined, sent: undefined }, ['query', 'query-values']);
    expect(line).toContain('"query":"code"');
    expect(line).not.toContain('secret');
  });
});

describe('the mode of the access log', () => {
  const records: readonly AccessRecord[] = [
    { sent: FORWARDED },
    { sent: { ...FORWARDED, ended: 'client-gone' as const } },
    { sent: { status: 302, bytes: 0 } },
    { sent: { ...FORWARDED, status: 404 } },
    { sent: { ...FORWARDED, ended: 'cut-off' as const } },
    { sent: { status: 400, bytes: 0 } },
    { sent: undefined },
  ].map(({ sent }, index) => ({
    ...{ requestId: String(index), startedAt: 0, request: undefined, route: undefined, sent },
  }));

  /** The ids of the requests that have a line, and whether a refused connection has one. */
  function logged(mode: CompiledAccessLog['mode'] | undefined, isForced = false): unknown[] {
    const { log, written } = openLog(isForced);
    const settings = mode ? { accessLog: { mode, fields: ['request-id', 'ip'] as const } } : {};
    for (const record of records) log.write(record, settings);
    log.writeRefused({ address: '192.0.2.1', status: 400 }, settings);
    const lines = written()
      .split('\n')
      .filter((line) => line !== '');
    return lines.map((line) => {
      const members = JSON.parse(line) as Record<string, unknown>;
      return members['request-id'] ?? members['message'];
    });
  }

  const ALL = ['0', '1', '2', '3', '4', '5', '6', 'connection refused'];

  test.each([
    ['All', ALL],
    ['Errors', ['3', '4', '5', '6', 'connection refused']],
    ['None', []],
    [undefined, []],
  ] as const)('%s selects requests', (mode, expected) => {
    expect(logged(mode)).toEqual(expected);
  });

  test.each(['All', 'Errors', 'None', undefined] as const)(
    'is All, whatever the settings have (%s), where the process says so',
    (mode) => {
      expect(logged(mode, true)).toEqual(ALL);
    },
  );
});

test('a refused connection has a line with the fields that are listed', () => {
  const { log, written } = openLog();
  const refused = { address: '2001:db8::/64', reason: 'too-many-connections' };
  log.writeRefused(refused, { accessLog: { mode: 'Errors', fields: ['ip', 'reason'] } });
  log.writeRefused(refused, { accessLog: { mode: 'Errors', fields: ['reason', 'status'] } });
  const frame = { ...FRAME, message: 'connection refused' };
  const [first = '', second = ''] = written().split('\n');
  expect(JSON.parse(first)).toEqual({ ...frame, ip: refused.address, reason: refused.reason });
  expect(JSON.parse(second)).toEqual({ ...frame, reason: refused.reason });
});
