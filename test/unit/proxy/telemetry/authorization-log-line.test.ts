import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { parseMessage } from '../../../../proxy/mcp/json-rpc.ts';
import { AuthorizationLog } from '../../../../proxy/telemetry/authorization-log.ts';
import { logJson } from '../../../../shared/telemetry/json-string.ts';
import { LineWriter } from '../../../../shared/telemetry/line-writer.ts';
import { aDecidedRequest, SPECIFIED_LOG_FIELDS } from '../../../support/decided-request.ts';

const NOW = Date.UTC(2026, 7, 1, 12, 0, 0, 5);

const ALICE = { provider: 'idp', subject: 'alice', groups: [], claims: {} };

const DECISION = {
  allow: true,
  allowReasons: ['domain-ok', 'mcp-tool-ok'],
  deny: false,
  denyReasons: [],
};

const CALL = parseMessage(
  Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"any"}}'),
);

/** A log with a clock, and the lines that it wrote. */
function logAt(now: () => number): { log: AuthorizationLog; lines: () => string[] } {
  let written = '';
  const writer = new LineWriter({ write: (text) => (written += text) });
  const lines = (): string[] => {
    writer.flush();
    return written.split('\n').filter((line) => line !== '');
  };
  return { log: new AuthorizationLog(writer, now), lines };
}

describe('a line of the authorization log', () => {
  test('is the JSON of the record, whatever its texts contain', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 80 }),
      fc.string({ unit: fc.constantFrom('a', '-', '"', '\\', '\n', '\u2028', '\ud800') }),
    );
    const names = fc.record({ subject: text, email: text, tool: text });
    fc.assert(
      fc.property(names, ({ subject, email, tool }) => {
        const { log, lines } = logAt(() => NOW);
        const identity = { ...ALICE, subject, email };
        const message = { ...CALL, toolName: tool };
        log.write(aDecidedRequest({ identity, message }), DECISION, SPECIFIED_LOG_FIELDS);
        const expected = {
          level: 'info',
          service: 'authorize',
          time: '2026-08-01T12:00:00.005Z',
          message: 'authorize check',
          'mcp-method': 'tools/call',
          'mcp-tool': tool,
          'mcp-tool-parameters': {},
          'request-id': 'r-1',
          user: subject,
          email,
          allow: true,
          'allow-why-true': ['domain-ok', 'mcp-tool-ok'],
          deny: false,
          'deny-why-false': [],
        };
        expect(lines()).toEqual([logJson(expected)]);
      }),
    );
  });

  test('names the user of its own request, as the identity is then', () => {
    const { log, lines } = logAt(() => NOW);
    const alice = { ...ALICE, email: 'alice@example.com' };
    const renewed = { ...alice, email: 'alice@example.org' };
    const bob = { ...ALICE, subject: 'bob' };
    const anonymous = undefined;
    for (const identity of [alice, bob, alice, anonymous, renewed, bob]) {
      log.write(aDecidedRequest({ identity }), DECISION, ['user', 'email']);
    }
    const ofAlice = ['alice', 'alice@example.com'];
    const users = lines().map((line) => {
      const { user, email } = JSON.parse(line) as { user?: string; email?: string };
      return [user, email].filter((value) => value !== undefined);
    });
    expect(users).toEqual([ofAlice, ['bob'], ofAlice, [], ['alice', 'alice@example.org'], ['bob']]);
  });

  test('has the time of its own request', () => {
    const times = [NOW, NOW, NOW + 1, NOW + 60_000, NOW - 1, NOW];
    let now = NOW;
    const { log, lines } = logAt(() => now);
    for (now of times) log.write(aDecidedRequest({ identity: ALICE }), DECISION, []);
    expect(lines().map((line) => (JSON.parse(line) as { time: string }).time)).toEqual(
      times.map((time) => new Date(time).toISOString()),
    );
  });
});
