import { describe, expect, test } from '@jest/globals';

import type { Identity } from '../../../../proxy/records/session.ts';
import { parseMessage, type JsonRpcMessage } from '../../../../proxy/mcp/json-rpc.ts';
import { buildPolicyEvaluator } from '../../../../proxy/policy/build-policy-evaluator.ts';
import type { Decision } from '../../../../proxy/policy/decision.ts';
import { AuthorizationLog } from '../../../../proxy/telemetry/authorization-log.ts';
import { LineWriter } from '../../../../shared/telemetry/line-writer.ts';
import type { Policy } from '../../../../shared/policy/policy.ts';
import {
  AUTHORIZE_LOG_FIELDS,
  type AuthorizeLogField,
} from '../../../../shared/snapshot/log-fields.ts';
import { aDecidedRequest, SPECIFIED_LOG_FIELDS } from '../../../support/decided-request.ts';
import { aPolicyInput } from '../../../support/policy-input.ts';

const NOW = Date.UTC(2026, 7, 1, 12, 0, 0, 5);
const METADATA = {
  level: 'info',
  service: 'authorize',
  time: '2026-08-01T12:00:00.005Z',
  message: 'authorize check',
};
const ALICE: Identity = {
  provider: 'idp',
  subject: 'auth0|alice',
  email: 'alice@example.com',
  groups: [],
  claims: {},
};
const UNDER_DENY: Policy = {
  allow: { and: [{ kind: 'domain', matcher: { is: 'example.com' } }] },
  deny: { and: [{ kind: 'mcp_tool', matcher: { not_in: ['read_file'] } }] },
};
const UNDER_ALLOW: Policy = {
  allow: {
    and: [
      { kind: 'domain', matcher: { is: 'example.com' } },
      { kind: 'mcp_tool', matcher: { is: 'read_file' } },
    ],
  },
};

describe('the authorization log', () => {
  test('has a record of a tool call that a deny permits', () => {
    expect(recordOf({ policy: UNDER_DENY, message: call('read_file', { path: '/a' }) })).toEqual({
      ...METADATA,
      'mcp-method': 'tools/call',
      'mcp-tool': 'read_file',
      'mcp-tool-parameters': { path: '/a' },
      'request-id': 'r-1',
      user: 'auth0|alice',
      email: 'alice@example.com',
      allow: true,
      'allow-why-true': ['domain-ok', 'mcp-tool-ok'],
      deny: false,
      'deny-why-false': ['mcp-tool-ok'],
    });
  });

  test('has a record of a tool call that a deny stops', () => {
    expect(recordOf({ policy: UNDER_DENY, message: call('drop_table', {}) })).toEqual({
      ...METADATA,
      'mcp-method': 'tools/call',
      'mcp-tool': 'drop_table',
      'mcp-tool-parameters': {},
      'request-id': 'r-1',
      user: 'auth0|alice',
      email: 'alice@example.com',
      allow: false,
      'allow-why-false': ['mcp-tool-unauthorized'],
      deny: true,
      'deny-why-true': ['mcp-tool-unauthorized'],
    });
  });

  test('has a record of a tool call that an allow permits', () => {
    expect(recordOf({ policy: UNDER_ALLOW, message: call('read_file') })).toEqual({
      ...METADATA,
      'mcp-method': 'tools/call',
      'mcp-tool': 'read_file',
      'mcp-tool-parameters': {},
      'request-id': 'r-1',
      user: 'auth0|alice',
      email: 'alice@example.com',
      allow: true,
      'allow-why-true': ['domain-ok', 'mcp-tool-ok'],
      deny: false,
      'deny-why-false': [],
    });
  });

  test('has a record of a tool call that an allow does not permit', () => {
    expect(recordOf({ policy: UNDER_ALLOW, message: call('drop_table') })).toEqual({
      ...METADATA,
      'mcp-method': 'tools/call',
      'mcp-tool': 'drop_table',
      'mcp-tool-parameters': {},
      'request-id': 'r-1',
      user: 'auth0|alice',
      email: 'alice@example.com',
      allow: false,
      'allow-why-false': ['mcp-tool-unauthorized'],
      deny: false,
      'deny-why-false': [],
    });
  });

  test('has the beginnings of a long name and of long parameters', () => {
    const record = recordOf({
      policy: UNDER_DENY,
      message: call('t'.repeat(5_000), { path: 'a'.repeat(9_000) }),
    });
    expect(record).toMatchObject({
      'mcp-tool': `${'t'.repeat(2_048)}...`,
      'mcp-tool-parameters': `${JSON.stringify({ path: 'a'.repeat(9_000) }).slice(0, 8_192)}...`,
    });
  });

  test('has parameters whole that a route accepts by default', () => {
    const parameters = { path: 'a'.repeat(4_000) };
    const record = recordOf({ policy: UNDER_DENY, message: call('read_file', parameters) });
    expect(record).toMatchObject({ 'mcp-tool-parameters': parameters });
  });

  test('has the method of a message that calls no tool, without tool and parameters', () => {
    const message = parse({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { name: 'x' } });

    expect(recordOf({ policy: UNDER_DENY, message })).toEqual({
      ...METADATA,
      'mcp-method': 'tools/list',
      'request-id': 'r-1',
      user: 'auth0|alice',
      email: 'alice@example.com',
      allow: true,
      'allow-why-true': ['domain-ok'],
      deny: false,
      'deny-why-false': ['mcp-no-tool'],
    });
  });

  test.each([
    ['no message', undefined],
    ['a response', parse({ jsonrpc: '2.0', id: 1, result: {} })],
  ])('has no method for %s', (_, message) => {
    expect(recordOf({ policy: UNDER_DENY, message })).not.toHaveProperty('mcp-method');
  });

  test('has a record of an anonymous request, without user and email', () => {
    const decision = { allow: true, allowReasons: ['accept'], deny: false, denyReasons: [] };

    expect(recordOf({ decision, identity: undefined })).toEqual({
      ...METADATA,
      'request-id': 'r-1',
      allow: true,
      'allow-why-true': ['accept'],
      deny: false,
      'deny-why-false': [],
    });
  });

  test('has no email for a user without one', () => {
    const identity = { provider: 'idp', subject: 'alice', groups: [], claims: {} };

    expect(recordOf({ policy: UNDER_DENY, identity })).not.toHaveProperty('email');
  });

  test('has only the selected fields, and those that identify the line', () => {
    const fields = ['deny', 'allow', 'mcp-tool', 'allow-why-false', 'service'] as const;

    expect(recordOf({ policy: UNDER_DENY, message: call('read_file') }, fields)).toEqual({
      ...METADATA,
      'mcp-tool': 'read_file',
      allow: true,
      deny: false,
    });
  });

  test('has the fields in the order of the specification, whatever the setting', () => {
    const fields = SPECIFIED_LOG_FIELDS.toReversed();
    const record = recordOf({ policy: UNDER_DENY, message: call('read_file') }, fields);

    expect(Object.keys(record)).toEqual([
      ...Object.keys(METADATA),
      'mcp-method',
      'mcp-tool',
      'mcp-tool-parameters',
      'request-id',
      'user',
      'email',
      'allow',
      'allow-why-true',
      'deny',
      'deny-why-false',
    ]);
  });

  test('applies a changed selection to the next record', () => {
    const { log, lines } = logInMemory();
    const checked = aDecidedRequest({ identity: ALICE });

    log.write(checked, DENIED, ['allow']);
    log.write(checked, DENIED, ['user']);
    log.write(checked, DENIED, ['allow']);

    expect(lines().map((line) => Object.keys(JSON.parse(line) as object).slice(4))).toEqual([
      ['allow'],
      ['user'],
      ['allow'],
    ]);
  });

  test('has one line for a record, whatever names and parameters contain', () => {
    const name = 'x"}\n{"level":"info","allow":true\u2028';
    const { log, lines } = logInMemory();
    const message = call(name, { '\n"': ['\r\n', '\ud800'] });

    log.write(aDecidedRequest({ identity: ALICE, message }), DENIED, AUTHORIZE_LOG_FIELDS);

    expect(lines()).toHaveLength(1);
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ 'mcp-tool': name, allow: false });
  });
});

const DENIED: Decision = { allow: false, allowReasons: ['reject'], deny: false, denyReasons: [] };

function call(name: string, parameters?: object): JsonRpcMessage {
  const params = { name, ...(parameters === undefined ? {} : { arguments: parameters }) };
  return parse({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
}

function parse(message: object): JsonRpcMessage {
  return parseMessage(Buffer.from(JSON.stringify(message)));
}

function recordOf(
  asked: {
    readonly policy?: Policy;
    readonly decision?: Decision;
    readonly message?: JsonRpcMessage | undefined;
    readonly identity?: Identity | undefined;
  },
  fields: readonly AuthorizeLogField[] = SPECIFIED_LOG_FIELDS,
): Record<string, unknown> {
  const { policy = {}, message } = asked;
  const identity = 'identity' in asked ? asked.identity : ALICE;
  const input = aPolicyInput({ identity, toolName: message?.toolName });
  const decision = asked.decision ?? buildPolicyEvaluator(policy).decide(input);
  const { log, lines } = logInMemory();
  log.write(aDecidedRequest({ identity, message }), decision, fields);
  const [line = '', ...more] = lines();
  expect(more).toEqual([]);
  return JSON.parse(line) as Record<string, unknown>;
}

function logInMemory(): { log: AuthorizationLog; lines: () => string[] } {
  let written = '';
  const writer = new LineWriter({ write: (text) => (written += text) });
  const lines = (): string[] => {
    writer.flush();
    return written.split('\n').filter((line) => line !== '');
  };
  return { log: new AuthorizationLog(writer, () => NOW), lines };
}
