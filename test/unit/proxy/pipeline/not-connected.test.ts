import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client';
import { Client as ClassicClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as ClassicTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';

import { expectJsonRpcError } from '../../../support/expect-json-rpc-error.ts';
import { membersOf, send, type Answer } from '../../../support/http-client.ts';
import { mcpHeaders } from '../../../support/signed-in-client.ts';
import {
  startStatefulMcpServer,
  type StatefulMcpServer,
} from '../../../support/stateful-mcp-server.ts';
import { startProtectedMcpServer } from '../../../support/upstream-oauth/protected-mcp-server.ts';
import {
  startTokenPipeline,
  type TokenPipeline,
} from '../../../support/upstream-oauth/token-pipeline.ts';

const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';
const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/;
const INFO = { name: 'test', version: '1.0.0' };
const URLS = { elicitation: { url: {} } };
const NOT_CONNECTED = { status: 401, code: 40101, id: 5, reason: 'not-connected' };
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

const started = new AsyncDisposableStack();
let server: StatefulMcpServer;
let pipeline: TokenPipeline;

beforeAll(async () => {
  server = started.use(await startStatefulMcpServer('Files'));
  pipeline = started.use(await startTokenPipeline(server.origin));
});

beforeEach(() => void pipeline.tokens.connect());

afterAll(() => started.disposeAsync());

function post(
  message: object,
  headers: Readonly<Record<string, string>> = {},
  { url } = pipeline,
): Promise<Answer> {
  return send(url, {
    method: 'POST',
    headers: { ...mcpHeaders('gte_external'), ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 5, ...message }),
  });
}

/** Begins a session as a client with these capabilities, and returns the header fields of its requests. */
async function beginSession(capabilities: object): Promise<Readonly<Record<string, string>>> {
  const params = { protocolVersion: LEGACY, capabilities, clientInfo: INFO };
  const answer = await post({ method: 'initialize', params });
  expect(answer.status).toBe(200);
  return {
    'mcp-session-id': String(answer.headers['mcp-session-id']),
    'mcp-protocol-version': LEGACY,
  };
}

/** Sends a request of MCP 2026-07-28. */
function postModern(
  method: string,
  params: object,
  { capabilities = URLS, at = pipeline }: { capabilities?: object; at?: TokenPipeline } = {},
): Promise<Answer> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    [CAPABILITIES]: capabilities,
  };
  const name = Object.values(params)[0] as unknown;
  return post(
    { method, params: { ...params, _meta } },
    {
      ...{ 'mcp-protocol-version': MODERN, 'mcp-method': method },
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
    at,
  );
}

const REQUESTS = [
  ['tools/call', { name: 'whoami' }],
  ['prompts/get', { name: 'greet' }],
  ['resources/read', { uri: 'file:///a' }],
] as const;

describe('a client with sessions that opens URLs', () => {
  test.each(REQUESTS)('gets the URL at which its user connects for %s', async (method, params) => {
    const session = await beginSession(URLS);
    pipeline.tokens.disconnect();
    const ids = new Set<unknown>();
    for (let time = 0; time < 2; time += 1) {
      const answer = await post({ method, params }, session);
      expect(answer.status).toBe(200);
      expect(answer.headers).not.toHaveProperty('www-authenticate');
      const { id, error } = membersOf(answer);
      expect({ id, error }).toEqual({
        id: 5,
        error: {
          code: -32042,
          message: expect.stringContaining('authorization'),
          data: {
            reason: 'not-connected',
            request_id: answer.headers['x-request-id'],
            elicitations: [
              {
                mode: 'url',
                elicitationId: expect.stringMatching(UUID),
                url: `${pipeline.url}/connect?of=a`,
                message: expect.stringContaining('authorization'),
              },
            ],
          },
        },
      });
      ids.add(/"elicitationId":"([^"]+)"/.exec(JSON.stringify(error))?.[1]);
    }
    expect(ids.size).toBe(2);
  });

  test.each([
    ['initialize', { capabilities: URLS }],
    ['tools/list', {}],
    ['ping', {}],
    ['notifications/initialized', {}],
  ])('is challenged for %s', async (method, params) => {
    const session = await beginSession(URLS);
    pipeline.tokens.disconnect();
    const answer = await post({ method, params }, session);
    expectJsonRpcError(answer, NOT_CONNECTED);
    expect(answer.headers['www-authenticate']).toContain('resource_metadata=');
  });
});

describe('a client with sessions that does not open URLs', () => {
  test.each([
    ['has no elicitation', {}],
    ['has forms only', { elicitation: {} }],
  ])('is challenged if it %s', async (_what, capabilities) => {
    const session = await beginSession(capabilities);
    pipeline.tokens.disconnect();
    const answer = await post({ method: 'tools/call', params: { name: 'whoami' } }, session);
    expectJsonRpcError(answer, NOT_CONNECTED);
  });
});

describe('a client without sessions that opens URLs', () => {
  beforeEach(() => pipeline.tokens.disconnect());

  test.each(REQUESTS)('gets the URL at which its user connects for %s', async (method, params) => {
    const answer = await postModern(method, params);
    expect(answer.status).toBe(200);
    expect(membersOf(answer)).toEqual({
      jsonrpc: '2.0',
      id: 5,
      result: {
        resultType: 'input_required',
        inputRequests: {
          'dev.gatehouse/connect': {
            method: 'elicitation/create',
            params: {
              mode: 'url',
              url: `${pipeline.url}/connect?of=a`,
              message: expect.stringContaining('authorization'),
            },
          },
        },
        _meta: {
          'dev.gatehouse/reason': 'not-connected',
          'dev.gatehouse/request_id': answer.headers['x-request-id'],
        },
      },
    });
  });

  test('gets the URL too if the upstream has refused the token', async () => {
    await using refusing = await startProtectedMcpServer({
      authorizationServers: [],
      verify: () => Promise.resolve(null),
    });
    await using other = await startTokenPipeline(refusing.origin, { path: '/mcp' });
    other.tokens.connect();
    other.tokens.refreshes = ['refused'];
    const answer = await postModern('tools/call', { name: 'whoami' }, { at: other });
    expect(membersOf(answer)).toMatchObject({ result: { resultType: 'input_required' } });
    expect(refusing.authorizations()).toHaveLength(1);
  });

  test('gets its state of an exchange with the server back', async () => {
    const state = {
      requestState: 'of the server',
      inputResponses: { other: { action: 'cancel' } },
    };
    const answer = await postModern('tools/call', { name: 'whoami', ...state });
    expect(membersOf(answer)).toMatchObject({
      result: { resultType: 'input_required', requestState: 'of the server' },
    });
  });

  test.each(['decline', 'cancel'])('is refused after its user’s %s', async (action) => {
    const inputResponses = { 'dev.gatehouse/connect': { action } };
    const answer = await postModern('tools/call', { name: 'whoami', inputResponses });
    expectJsonRpcError(answer, {
      ...{ status: 403, code: 40301, id: 5, reason: 'connection-declined' },
    });
  });

  test('is asked again if its user accepted and has not connected', async () => {
    const inputResponses = { 'dev.gatehouse/connect': { action: 'accept' } };
    const answer = await postModern('tools/call', { name: 'whoami', inputResponses });
    expect(membersOf(answer)).toMatchObject({ result: { resultType: 'input_required' } });
  });

  test('is challenged for any other request, and if it has no such capability', async () => {
    expectJsonRpcError(await postModern('tools/list', {}), NOT_CONNECTED);
    const answer = await postModern(
      'tools/call',
      { name: 'whoami' },
      { capabilities: { elicitation: { form: {} } } },
    );
    expectJsonRpcError(answer, NOT_CONNECTED);
  });
});

describe('the official clients', () => {
  test('of the SDK 1.x throw the URL, and call again once the user has connected', async () => {
    const client = new ClassicClient(INFO, { capabilities: URLS });
    const requestInit = { headers: { authorization: 'Bearer gte_external' } };
    await client.connect(new ClassicTransport(new URL(pipeline.url), { requestInit }));
    pipeline.tokens.disconnect();
    const refused = client.callTool({ name: 'whoami' });
    await expect(refused).rejects.toBeInstanceOf(UrlElicitationRequiredError);
    await expect(refused).rejects.toMatchObject({
      elicitations: [{ mode: 'url', url: `${pipeline.url}/connect?of=a` }],
    });
    pipeline.tokens.connect();
    expect(JSON.stringify(await client.callTool({ name: 'whoami' }))).toContain('Files');
    await client.close();
  });

  test('of the SDK 2.x open the URL, and then the call succeeds', async () => {
    await using modern = await startProtectedMcpServer({
      authorizationServers: [],
      verify: () => Promise.resolve({ subject: 'a', clientId: 'gatehouse', scopes: [] }),
    });
    await using other = await startTokenPipeline(modern.origin, { path: '/mcp' });
    const { tokens } = other;
    tokens.connect();
    const versionNegotiation = { mode: 'auto' } as const;
    const client = new ModernClient(INFO, { capabilities: URLS, versionNegotiation });
    const opened: unknown[] = [];
    client.setRequestHandler('elicitation/create', ({ params }) => {
      opened.push(params);
      tokens.connect();
      return { action: 'accept' };
    });
    const requestInit = { headers: { authorization: 'Bearer gte_external' } };
    await client.connect(new ModernTransport(new URL(other.url), { requestInit }));
    tokens.disconnect();
    const result = await client.callTool({ name: 'whoami' });
    expect(JSON.stringify(result)).toContain('gatehouse');
    expect(opened).toEqual([
      expect.objectContaining({ mode: 'url', url: `${other.url}/connect?of=a` }),
    ]);
    await client.close();
  });
});
