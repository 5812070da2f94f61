import { describe, expect, test } from '@jest/globals';

import type { AuthorizeLogField } from '../../../../shared/snapshot/log-fields.ts';
import { AuthorizationLog } from '../../../../proxy/telemetry/authorization-log.ts';
import { LineWriter } from '../../../../shared/telemetry/line-writer.ts';
import { aDecidedRequest } from '../../../support/decided-request.ts';

const ALICE = { provider: 'idp', subject: 'alice', groups: [], claims: {} };
const ALLOWED = { allow: true, allowReasons: ['accept'], deny: false, denyReasons: [] };

/** What a line about a request has in these fields. */
function logged(
  facts: Parameters<typeof aDecidedRequest>[0],
  fields: readonly AuthorizeLogField[],
): unknown {
  let written = '';
  const lines = new LineWriter({ write: (text) => (written += text) });
  new AuthorizationLog(lines).write(aDecidedRequest(facts), ALLOWED, fields);
  lines.flush();
  expect(written).toMatch(/^[^\n\p{Cc}\u2028]*\n$/u);
  const { level, service, time, message, ...members } = JSON.parse(written) as Record<
    string,
    unknown
  >;
  expect([level, service, time, message]).not.toContain(undefined);
  return members;
}

describe('further fields of the authorization log', () => {
  test('are about the request', () => {
    const request = {
      ...{
        method: 'PUT',
        path: '/a b"',
        authority: 'a.example:8443',
        remoteAddress: '2001:db8::1',
      },
      trace: { context: { traceId: '0af7651916cd43dd8448eb211c80319c' } } as never,
    };
    expect(logged({ request }, ['trace-id', 'ip', 'path', 'host', 'method', 'route'])).toEqual({
      ...{ method: 'PUT', host: 'a.example:8443', path: '/a b"', ip: '2001:db8::1' },
      ...{ route: 'default/a', 'trace-id': '0af7651916cd43dd8448eb211c80319c' },
    });
  });

  // Attack: a line of an administrator's choosing, where a reader of the log ends lines at U+0085.
  test('escape what ends lines or steers a terminal, in header fields and parameters', () => {
    const message = {
      ...{ id: 1, method: 'tools/call', toolName: 'drop', toolArguments: { a: '\u2028' } },
    } as never;
    const facts = { rawHeaders: ['X-Odd', 'a\u0085b\u009b'], message };
    expect(logged(facts, ['headers.X-Odd', 'mcp-tool-parameters'])).toEqual({
      ...{ 'headers.X-Odd': 'a\u0085b\u009b', 'mcp-tool-parameters': { a: '\u2028' } },
    });
  });

  test('have no trace while tracing is off, and no session of an anonymous request', () => {
    expect(logged({}, ['trace-id', 'session-id', 'query', 'query-values'])).toEqual({});
  });

  test('have the session as a hash, the same in each line', () => {
    const facts = { identity: ALICE };
    const first = logged(facts, ['session-id']);
    expect(first).toEqual({ 'session-id': expect.stringMatching(/^[\w-]{43}$/) });
    expect(logged(facts, ['session-id'])).toEqual(first);
    expect(JSON.stringify(first)).not.toContain('the-session');
  });

  test.each([
    ['?code=secret&state=x', 'code&state'],
    ['?a=1&b=2&a=3', 'a&b'],
    ['?a=b=secret', 'a'],
    ['?secret', ''],
    ['?a%3D1=secret&=secret', 'a%3D1&'],
  ])('have the names of the parameters of %s, and no values', (query, names) => {
    const written = logged({ request: { query } }, ['query']);
    expect(written).toEqual({ query: names });
    expect(JSON.stringify(written)).not.toContain('secret');
  });

  test('have the values of a query only if they are listed', () => {
    const facts = { request: { query: '?a=1&b' } };
    expect(logged(facts, ['query', 'query-values'])).toEqual({
      query: 'a',
      'query-values': 'a=1&b',
    });
    expect(logged(facts, ['query-values'])).toEqual({ 'query-values': 'a=1&b' });
  });

  test('have header fields by any spelling of their names, with all of their lines', () => {
    const rawHeaders = ['User-Agent', 'a "b"', 'x-team', 'red', 'X-Team', 'blue', 'Empty', ''];
    const fields = ['headers.X-TEAM', 'headers.user-agent', 'headers.Empty', 'headers.No'] as const;
    expect(logged({ rawHeaders }, fields)).toEqual({
      ...{ 'headers.X-TEAM': 'red, blue', 'headers.user-agent': 'a "b"', 'headers.Empty': '' },
    });
  });

  test('are cut, because strangers choose them', () => {
    const long = 'a'.repeat(9_000);
    const facts = { request: { path: long, query: `?${long}=` }, rawHeaders: ['X', long] };
    const cut = `${'a'.repeat(2_048)}...`;
    const fields = ['path', 'query', 'query-values', 'headers.X'] as const;
    expect(logged(facts, fields)).toEqual({
      ...{ path: cut, query: cut, 'query-values': cut, 'headers.X': cut },
    });
  });
});
