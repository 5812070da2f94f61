import { afterAll, beforeAll, beforeEach, describe, expect } from '@jest/globals';

import type { GatewaySettings, Route } from '../../crds/types.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from '../support/gateway-with-users.ts';
import { send, type Answer } from '../support/http-client.ts';
import {
  callMcp,
  mcpHeaders,
  signInClient,
  type SignedInClient,
} from '../support/signed-in-client.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { verifies } from '../requirements/verifies.ts';

type Policy = NonNullable<Route['spec']['policy']>;
type Fields = NonNullable<NonNullable<GatewaySettings['spec']>['authorizeLogFields']>;
type LogRecord = Readonly<Record<string, unknown>>;

const MCP_FIELDS = ['mcp-method', 'mcp-tool', 'mcp-tool-parameters'] as const;
const DECISION_FIELDS = [
  ...(['allow', 'allow-why-true', 'allow-why-false'] as const),
  ...(['deny', 'deny-why-true', 'deny-why-false'] as const),
];
const OTHER_FIELDS = ['request-id', 'user', 'email', ...DECISION_FIELDS] as const;
const EVERY_FIELD: Fields = [...MCP_FIELDS, ...OTHER_FIELDS];
/** In every record: they say what it is. */
const FRAME = ['level', 'service', 'time', 'message'];

const POLICY: Policy = {
  allow: { and: [{ domain: { is: 'example.com' } }] },
  deny: { and: [{ mcp_tool: { starts_with: 'delete_' } }] },
};

/** Tools are for MCP routes. */
const WEB_POLICY: Policy = { allow: { and: [{ domain: { is: 'example.com' } }] } };
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

let world: GatewayWithUsers;
let upstream: Upstream;
let mcp: string;
let web: string;
let open: string;
let client: SignedInClient;
/** Number of records before a test. */
let seen = 0;

beforeAll(async () => {
  upstream = await startUpstream((message, response) => {
    message.resume();
    response.end('{}');
  });
  world = await startGatewayWithUsers();
  [mcp, web, open] = [world.originOf('mcp'), world.originOf('web'), world.originOf('open')];
  await serve(POLICY, EVERY_FIELD);
  client = await signInClient(mcp);
});

beforeEach(() => {
  seen = world.gateway.decisions().length;
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

async function serve(policy: Policy, authorizeLogFields?: Fields): Promise<void> {
  const to = upstream.origin;
  await world.configure(
    {
      mcp: { from: mcp, to, mcp: { server: { maxRequestBytes: 1000 } }, policy },
      web: { from: web, to, policy: WEB_POLICY },
      open: { from: open, to, allowPublicUnauthenticatedAccess: true },
    },
    authorizeLogFields === undefined ? {} : { authorizeLogFields },
  );
}

function call(message: string | object): Promise<Answer> {
  return callMcp(mcp, client.accessToken, message);
}

function toolCall(name: string, parameters: object = {}): object {
  const params = { name, arguments: parameters };
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
}

/** Records since the test began. */
function records(): readonly LogRecord[] {
  return world.gateway.decisions().slice(seen);
}

/** The one record since the test began. */
function record(): LogRecord {
  expect(records()).toHaveLength(1);
  return records()[0] ?? {};
}

function withoutFrame(fields: LogRecord): LogRecord {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !FRAME.includes(name)));
}

describe('A record', () => {
  verifies('log.record', 'says what it is, when it was, and who asked for what', async () => {
    await serve(POLICY, EVERY_FIELD);
    const { headers } = await call(toolCall('echo', { text: 'hi' }));

    const { time, ...fields } = record();
    expect(new Date(String(time)).toISOString()).toBe(time);
    expect(fields).toEqual({
      ...{ level: 'info', service: 'authorize', message: 'authorize check' },
      ...{ 'mcp-method': 'tools/call', 'mcp-tool': 'echo', 'mcp-tool-parameters': { text: 'hi' } },
      ...{ 'request-id': headers['x-request-id'], user: 'alice', email: 'alice@example.com' },
      ...{ allow: true, 'allow-why-true': ['domain-ok', 'mcp-tool-ok'] },
      ...{ deny: false, 'deny-why-false': ['mcp-tool-ok'] },
    });
    const { message } = upstream.requests.at(-1) ?? {};
    expect(message?.headers['x-request-id']).toBe(fields['request-id']);
  });

  verifies(
    ['log.record', 'log.reasons', 'errors.tool-denied', 'policy.tool-reasons'],
    'of a tool that deny blocks says allow false with mcp-tool-unauthorized',
    async () => {
      await serve(POLICY, EVERY_FIELD);
      await call(toolCall('delete_all'));
      expect(record()).toMatchObject({
        ...{ 'mcp-tool': 'delete_all', allow: false, deny: true },
        'allow-why-false': ['mcp-tool-unauthorized'],
        'deny-why-true': ['mcp-tool-unauthorized'],
      });
      expect(record()).not.toHaveProperty('allow-why-true');
      expect(record()).not.toHaveProperty('deny-why-false');
    },
  );

  verifies(
    ['log.record', 'log.reasons', 'errors.tool-denied', 'policy.tool-reasons'],
    'of a tool that allow does not name says allow false with mcp-tool-unauthorized',
    async () => {
      await serve({ allow: { and: [{ mcp_tool: { is: 'echo' } }] } }, EVERY_FIELD);
      await call(toolCall('delete_all'));
      expect(record()).toMatchObject({
        ...{ allow: false, deny: false, 'allow-why-false': ['mcp-tool-unauthorized'] },
      });
    },
  );

  verifies(
    ['log.reasons', 'policy.tool-reasons'],
    'of a tool that allow names says allow true with mcp-tool-ok',
    async () => {
      await serve({ allow: { and: [{ mcp_tool: { is: 'echo' } }] } }, EVERY_FIELD);
      await call(toolCall('echo'));
      expect(record()).toMatchObject({ allow: true, 'allow-why-true': ['mcp-tool-ok'] });
    },
  );

  const REASONS: readonly (readonly [Policy, LogRecord])[] = [
    [
      { allow: { or: [{ authenticated_user: true }] } },
      { allow: true, 'allow-why-true': ['authenticated-user'] },
    ],
    [
      { allow: { and: [{ domain: 'example.org' }] } },
      { allow: false, 'allow-why-false': ['domain-unauthorized'] },
    ],
    [
      { allow: { and: [{ groups: { has: 'engineering' } }, { email: 'bob@example.com' }] } },
      { allow: false, 'allow-why-false': ['email-unauthorized'] },
    ],
    [
      { allow: { and: [{ accept: true }] }, deny: { and: [{ user: 'alice' }] } },
      { allow: true, 'allow-why-true': ['accept'], deny: true, 'deny-why-true': ['user-ok'] },
    ],
  ];

  for (const [policy, expected] of REASONS) {
    verifies('log.reasons', `of ${JSON.stringify(policy)} gives its reasons`, async () => {
      await serve(policy, [...DECISION_FIELDS]);
      await call(LIST);
      expect(record()).toMatchObject(expected);
    });
  }

  verifies('log.mcp-fields', 'of tools/list names the method, and no tool', async () => {
    await serve(POLICY, EVERY_FIELD);
    await call(LIST);
    expect(record()).toMatchObject({ 'mcp-method': 'tools/list', allow: true });
    expect(record()).not.toHaveProperty('mcp-tool');
    expect(record()).not.toHaveProperty('mcp-tool-parameters');
  });

  verifies('log.mcp-fields', 'of another method with a name names no tool', async () => {
    await serve(POLICY, EVERY_FIELD);
    await call({ ...LIST, method: 'prompts/get', params: { name: 'p', arguments: { a: '1' } } });
    expect(withoutFrame(record())).not.toHaveProperty('mcp-tool');
    expect(record()).toMatchObject({ 'mcp-method': 'prompts/get' });
  });

  verifies('log.mcp-fields', 'of what has no method has no field of MCP', async () => {
    await serve(POLICY, [...MCP_FIELDS, 'user']);
    await call({ jsonrpc: '2.0', id: 1, result: {} });
    await send(mcp, { headers: mcpHeaders(client.accessToken) });
    expect(records().map(withoutFrame)).toEqual([{ user: 'alice' }, { user: 'alice' }]);
  });

  verifies('log.mcp-fields', 'of a call without arguments has empty parameters', async () => {
    await serve(POLICY, EVERY_FIELD);
    await call({ ...LIST, method: 'tools/call', params: { name: 'echo' } });
    expect(record()).toMatchObject({ 'mcp-tool': 'echo', 'mcp-tool-parameters': {} });
  });

  verifies(
    'log.record',
    'is one line that says one thing, whatever the tool and its arguments are called',
    async () => {
      await serve(POLICY, EVERY_FIELD);
      const name = 'delete_","allow":true,"x":"\n{"message":"authorize check"}\u2028';
      await call(toolCall(name, { 'a"\n': '\u0000' }));
      expect(record()).toMatchObject({
        ...{ 'mcp-tool': name, 'mcp-tool-parameters': { 'a"\n': '\u0000' }, allow: false },
      });
    },
  );
});

describe('The fields of a record', () => {
  verifies('log.fields-selected', 'are by default all but those of MCP', async () => {
    await serve(POLICY);
    await call(toolCall('echo'));
    const applying = OTHER_FIELDS.filter((f) => f !== 'allow-why-false' && f !== 'deny-why-true');
    expect(Object.keys(record()).sort()).toEqual([...FRAME, ...applying].sort());
  });

  verifies('log.fields-selected', 'are those that the settings name', async () => {
    for (const fields of [['user'], ['mcp-tool', 'allow'], ['mcp-method', 'email']] as const) {
      await serve(POLICY, fields);
      seen = world.gateway.decisions().length;
      await call(toolCall('echo'));
      expect(Object.keys(withoutFrame(record())).sort()).toEqual([...fields].sort());
    }
  });

  verifies(
    'log.fields-selected',
    'change with the settings, from the next request on',
    async () => {
      await serve(POLICY, ['user']);
      await call(LIST);
      await serve(POLICY, ['email']);
      await call(LIST);
      expect(records().map(withoutFrame)).toEqual([
        { user: 'alice' },
        { email: 'alice@example.com' },
      ]);
    },
  );
});

describe('A request', () => {
  verifies('log.record', 'has one record, whatever became of it', async () => {
    await serve(POLICY, EVERY_FIELD);
    await client.browser.open(web);
    seen = world.gateway.decisions().length;
    const ids = [
      (await call(LIST)).headers,
      (await call(toolCall('echo'))).headers,
      (await call(toolCall('delete_all'))).headers,
      (await call({ jsonrpc: '2.0', method: 'notifications/initialized' })).headers,
      (await send(mcp, { headers: mcpHeaders(client.accessToken) })).headers,
      (await send(mcp, { method: 'DELETE', headers: mcpHeaders(client.accessToken) })).headers,
      (await client.browser.open(`${web}/a`)).headers,
      (await send(open)).headers,
    ].map((headers) => headers['x-request-id']);
    expect(records().map((fields) => fields['request-id'])).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  verifies('log.record', 'of nobody in particular names nobody', async () => {
    await serve(POLICY, EVERY_FIELD);
    await send(open);
    expect(withoutFrame(record())).toEqual({
      'request-id': expect.any(String),
      ...{ allow: true, 'allow-why-true': ['accept'] },
      ...{ deny: false, 'deny-why-false': [] },
    });
  });

  verifies('log.record', 'that is refused before it is checked has none', async () => {
    await serve(POLICY, EVERY_FIELD);
    await send(mcp, { method: 'POST', body: '{}' });
    await call('not JSON');
    await call('x'.repeat(1001));
    await send(mcp, { method: 'PUT', headers: mcpHeaders(client.accessToken) });
    await send(web);
    await send(`${web}/.gateway/nothing`);
    await send(`${mcp}/.well-known/oauth-protected-resource`);
    await send(world.originOf('nobody'));
    expect(records()).toEqual([]);
  });
});

verifies('log.record', 'The log holds no token, code, cookie or secret', async () => {
  await serve(POLICY, EVERY_FIELD);
  const { accessToken, refreshToken, browser } = await signInClient(mcp);
  await callMcp(mcp, accessToken, LIST);
  await callMcp(mcp, `${accessToken}x`, LIST);
  await browser.open(`${mcp}/.gateway/callback?code=the-code&state=the-state`);
  const log = JSON.stringify(world.gateway.logs());
  expect(log).toContain('authorize check');
  const secrets = [accessToken, refreshToken, 'the-code', 'the-state'];
  secrets.push(world.identityProvider.clientSecret, ...browser.cookies.map(({ value }) => value));
  for (const secret of secrets) expect(log).not.toContain(secret);
});
