import { readdirSync, readFileSync } from 'node:fs';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

import { describe, expect, test } from '@jest/globals';

import type { GatewayError } from '../../../../proxy/errors/gateway-error.ts';
import { TokenRequiredError } from '../../../../proxy/errors/authentication-errors.ts';
import { ForbiddenError, ToolCallDeniedError } from '../../../../proxy/errors/denial-errors.ts';
import { SignInRequiredError } from '../../../../proxy/errors/authentication-errors.ts';
import type { GatewayRequest } from '../../../../proxy/http/gateway-request.ts';
import { ANONYMOUS, type Caller } from '../../../../proxy/authentication/caller.ts';
import { parseMessage, type JsonRpcMessage } from '../../../../proxy/mcp/json-rpc.ts';
import { authorize } from '../../../../proxy/pipeline/authorize.ts';
import type { Permit } from '../../../../proxy/pipeline/permit.ts';
import { buildPolicyEvaluator } from '../../../../proxy/policy/build-policy-evaluator.ts';
import type { GatewayRoute } from '../../../../proxy/configuration/routing-table.ts';
import { AuthorizationLog } from '../../../../proxy/telemetry/authorization-log.ts';
import { LineWriter } from '../../../../shared/telemetry/line-writer.ts';
import type { Criterion, Policy } from '../../../../shared/policy/policy.ts';
import { AUTHORIZE_LOG_FIELDS } from '../../../../shared/snapshot/log-fields.ts';
import { aCompiledRoute } from '../../../support/compiled-resources.ts';

/* eslint-disable @typescript-eslint/no-unsafe-class-instance-assignment -- forgeries must not compile */

const ALICE: Caller = {
  kind: 'user',
  via: 'external-token',
  session: {
    id: 's',
    signInId: 'sign-in',
    identity: {
      provider: 'idp',
      subject: 'alice',
      email: 'alice@example.com',
      groups: [],
      claims: {},
    },
    createdAt: 0,
    expiresAt: 1,
  },
};
const REQUEST: GatewayRequest = {
  id: 'r-1',
  method: 'POST',
  path: '/mcp',
  query: '',
  authority: 'app.example.com',
  remoteAddress: '192.0.2.1',
  message: new IncomingMessage(new Socket()),
};
const DOMAIN: Criterion = { kind: 'domain', matcher: { is: 'example.com' } };
const OTHER_DOMAIN: Criterion = { kind: 'domain', matcher: { is: 'elsewhere.example' } };
const READ: Criterion = { kind: 'mcp_tool', matcher: { is: 'read_file' } };
const NOT_READ: Criterion = { kind: 'mcp_tool', matcher: { not_in: ['read_file'] } };
const RECOMMENDED: Policy = { allow: { and: [DOMAIN] }, deny: { and: [NOT_READ] } };

describe('authorize', () => {
  test('returns a permit for a request that the policy permits', () => {
    const route = mcpRoute(RECOMMENDED);
    const message = call('read_file');

    const { outcome, records } = run(route, ALICE, message);

    expect(outcome).toMatchObject({ route, caller: ALICE, body: { message } });
    expect(outcome).toHaveProperty('request', REQUEST);
    expect(records).toMatchObject([{ allow: true, deny: false, user: 'alice' }]);
  });

  test('permits everyone on a public route, and logs accept', () => {
    const route = { ...mcpRoute({}), policy: undefined };
    const open = { ...route, compiled: { ...route.compiled, access: { kind: 'public' } as const } };

    const { outcome, records } = run(open, ANONYMOUS);

    expect(outcome).toMatchObject({ caller: ANONYMOUS });
    expect(records).toMatchObject([
      { allow: true, 'allow-why-true': ['accept'], deny: false, 'deny-why-false': [] },
    ]);
  });

  test.each<[string, Policy]>([
    ['under deny', RECOMMENDED],
    ['under allow', { allow: { and: [DOMAIN, READ] } }],
    ['in a not of allow', { allow: { not: [OTHER_DOMAIN, NOT_READ] } }],
    ['in a nor of deny', { allow: { and: [DOMAIN] }, deny: { nor: [READ] } }],
  ])('answers the model if only mcp_tool %s denies the call', (_, policy) => {
    const { outcome, records } = run(mcpRoute(policy), ALICE, call('drop_table'));

    expect(outcome).toBeInstanceOf(ToolCallDeniedError);
    expect(records).toMatchObject([
      { allow: false, 'allow-why-false': ['mcp-tool-unauthorized'], 'mcp-tool': 'drop_table' },
    ]);
  });

  test.each<[string, Policy, JsonRpcMessage | undefined, string]>([
    [
      'who the caller is, with a tool that is permitted',
      { allow: { and: [OTHER_DOMAIN] }, deny: { and: [NOT_READ] } },
      call('read_file'),
      'domain-unauthorized',
    ],
    [
      'who the caller is, with a tool that is not',
      { allow: { and: [OTHER_DOMAIN] }, deny: { and: [NOT_READ] } },
      call('drop_table'),
      'domain-unauthorized',
    ],
    [
      'mcp_tool and another criterion of deny',
      { allow: { and: [DOMAIN] }, deny: { or: [NOT_READ, DOMAIN] } },
      call('drop_table'),
      'mcp-tool-unauthorized',
    ],
    ['a deny', { allow: { and: [DOMAIN] }, deny: { or: [DOMAIN] } }, call('read_file'), 'denied'],
    ['nothing that allows', { deny: { or: [OTHER_DOMAIN] } }, call('read_file'), 'not-allowed'],
    [
      'mcp_tool, in a request that calls no tool',
      { allow: { and: [DOMAIN, READ] } },
      parse({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      'mcp-tool-unauthorized',
    ],
    [
      'mcp_tool, in a call that is a notification',
      RECOMMENDED,
      parse({ jsonrpc: '2.0', method: 'tools/call', params: { name: 'drop_table' } }),
      'mcp-tool-unauthorized',
    ],
    [
      'mcp_tool, in a request without a message',
      { allow: { and: [READ] } },
      undefined,
      'mcp-tool-unauthorized',
    ],
  ])('forbids a request that is denied by %s', (_, policy, message, reason) => {
    const { outcome, records } = run(mcpRoute(policy), ALICE, message);

    expect(outcome).toBeInstanceOf(ForbiddenError);
    expect(outcome).toMatchObject({ reason });
    expect(records).toHaveLength(1);
  });

  test('forbids every request on a route without a policy', () => {
    const { outcome } = run({ ...mcpRoute(RECOMMENDED), policy: undefined }, ALICE);

    expect(outcome).toBeInstanceOf(ForbiddenError);
  });

  test.each([
    ['sign-in', webRoute, SignInRequiredError],
    ['a token, and never sign-in, of an MCP client', mcpRoute, TokenRequiredError],
  ])('asks an anonymous caller for %s, even where the policy accepts everyone', (_, make, kind) => {
    const { outcome, records } = run(make({ allow: { or: [{ kind: 'accept' }] } }), ANONYMOUS);

    expect(outcome).toBeInstanceOf(kind);
    expect(records).toMatchObject([
      { allow: false, 'allow-why-false': ['user-unauthenticated'], deny: false },
    ]);
  });

  test('evaluates the policy with the method and the path of the request', () => {
    const policy: Policy = {
      allow: {
        and: [
          { kind: 'http_method', matcher: { is: 'POST' } },
          { kind: 'http_path', matcher: { is: '/mcp' } },
        ],
      },
    };

    expect(run(webRoute(policy), ALICE).outcome).toHaveProperty('route');
  });
});

describe('a permit', () => {
  test('cannot be written as an object literal', () => {
    const route = mcpRoute({});

    // @ts-expect-error only `authorize` makes a permit
    const forged: Permit = { request: REQUEST, route, caller: ALICE, body: undefined };

    expect(forged).toBeDefined();
  });

  test('cannot be written as a copy with a different request', () => {
    const forge = (permit: Permit): Permit =>
      // @ts-expect-error a copy is not a permit
      ({ ...permit, request: REQUEST });

    expect(forge).toBeDefined();
  });

  test('is asserted in authorize.ts only', () => {
    const folder = `${import.meta.dirname}/../../../../proxy`;
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const asserting = sources
      .filter((name) => name.endsWith('.ts'))
      .filter((name) =>
        /\bas (?:unknown as )?Permit\b/.test(readFileSync(`${folder}/${name}`, 'utf8')),
      );

    expect(asserting).toEqual(['pipeline/authorize.ts']);
  });
});

function run(
  route: GatewayRoute,
  caller: Caller,
  message?: JsonRpcMessage,
): { outcome: Permit | GatewayError; records: unknown[] } {
  let written = '';
  const lines = new LineWriter({ write: (text) => (written += text) });
  const outcome = attempt(() =>
    authorize(route, caller, {
      request: REQUEST,
      body: message && { message, bytes: Buffer.alloc(0), subjects: undefined },
      authorizationLog: new AuthorizationLog(lines),
      configuration: { settings: { authorizeLogFields: AUTHORIZE_LOG_FIELDS } },
      now: () => 0,
    }),
  );
  lines.flush();
  const records = written.split('\n').filter((line) => line !== '');
  return { outcome, records: records.map((line) => JSON.parse(line) as unknown) };
}

function attempt(make: () => Permit): Permit | GatewayError {
  try {
    return make();
  } catch (error) {
    return error as GatewayError;
  }
}

function webRoute(policy: Policy): GatewayRoute {
  const compiled = aCompiledRoute({ access: { kind: 'policy', policy } });
  return { compiled, policy: buildPolicyEvaluator(policy), mcpPaths: undefined };
}

function mcpRoute(policy: Policy): GatewayRoute {
  const route = webRoute(policy);
  const mcpServer = { path: '', maxRequestBytes: 4096 };
  const compiled = { ...route.compiled, mcpServer };
  return { ...route, compiled, mcpPaths: new Map([[REQUEST.path, 'endpoint']]) };
}

function call(name: string): JsonRpcMessage {
  return parse({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } });
}

function parse(message: object): JsonRpcMessage {
  return parseMessage(Buffer.from(JSON.stringify(message)));
}
