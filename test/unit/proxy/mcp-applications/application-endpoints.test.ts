import { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';

import { describe, expect, test } from '@jest/globals';

import { PATHS } from '../../../../proxy/endpoints/paths.ts';
import type { EndpointContext } from '../../../../proxy/endpoints/endpoint.ts';
import { createApplicationEndpoints } from '../../../../proxy/mcp-applications/application-endpoints.ts';
import type { UserConnections } from '../../../../proxy/mcp-applications/connections.ts';
import { createMemoryStores } from '../../../../proxy/store/memory/memory-stores.ts';
import type { CompiledRoute } from '../../../../shared/snapshot/snapshot.ts';
import { anOrigin } from '../../../support/an-origin.ts';
import { aSession } from '../../../support/authorization-server.ts';
import { buildConfiguration } from '../../../support/build-configuration.ts';
import {
  aCompiledRoute,
  AN_IDENTITY_PROVIDER,
  aSnapshot,
} from '../../../support/compiled-resources.ts';
import { compiledSettings } from '../../../support/compiled-settings.ts';

const SESSION = aSession(0);
const PROVIDER = {
  ...AN_IDENTITY_PROVIDER,
  name: SESSION.identity.provider,
  issuer: SESSION.identity.issuer ?? '',
};
const UPSTREAM_OAUTH = { authorizationParams: {}, sendsResource: true };
const EVERYBODY = { kind: 'policy', policy: { allow: { and: [{ kind: 'accept' }] } } } as const;

function aServer(name: string, { needsOAuth = true } = {}): CompiledRoute {
  const routeId = `team/${name}`;
  return aCompiledRoute({
    name: routeId,
    host: `${name}.example.com`,
    access: EVERYBODY,
    mcpServer: {
      path: '',
      maxRequestBytes: 4096,
      ...(needsOAuth && { upstreamOAuth: { routeId, ...UPSTREAM_OAUTH } }),
    },
  });
}

/** Endpoints in front of these servers, for a user who has connected the named ones. */
function endpointsOf(routes: readonly CompiledRoute[], connected = new Set<string>()) {
  const configuration = buildConfiguration(aSnapshot(compiledSettings(), PROVIDER, ...routes));
  const asked: number[] = [];
  const connections: UserConnections = {
    statesOf(_user, needing) {
      asked.push(needing.length);
      return Promise.resolve(
        needing.map(({ name }) => (connected.has(name) ? 'connected' : 'not-connected')),
      );
    },
    disconnect: (_user, { name }) => Promise.resolve(void connected.delete(name)),
  };
  const endpoints = createApplicationEndpoints({
    applications: {
      authenticate: () =>
        Promise.resolve({ kind: 'user', session: SESSION, via: 'external-token' }),
    },
    stores: createMemoryStores(() => 0),
    connections,
  });
  const call = async (path: string, body = '', type = 'application/json') => {
    const message = Object.assign(Readable.from(body === '' ? [] : [Buffer.from(body)]), {
      headers: { 'content-type': type },
    });
    // Only what the endpoints read.
    const context = {
      request: { message },
      configuration,
      origin: anOrigin('https://app.example.com'),
      cookies: {},
    } as unknown as EndpointContext;
    const response = await endpoints[path]?.handle(context);
    return JSON.parse(String(response?.body)) as { servers: readonly unknown[] };
  };
  return {
    connected,
    asked,
    list: () => call(PATHS.routes),
    disconnect: (body: string, type?: string) => call(PATHS.disconnect, body, type),
  };
}

const MAIL = {
  name: 'mail',
  url: 'https://mail.example.com',
  needs_oauth: true,
  connect_url:
    'https://mail.example.com/.gateway/mcp/connect?resource=https%3A%2F%2Fmail.example.com',
};

describe('The list for applications', () => {
  test('has connected exactly for servers that need nothing, or that the user has connected', async () => {
    const routes = [aServer('mail'), aServer('files', { needsOAuth: false }), aServer('chat')];
    const { list } = endpointsOf(routes, new Set(['team/mail']));
    expect(await list()).toEqual({
      servers: [
        expect.objectContaining({ name: 'chat', connected: false }),
        { name: 'files', url: 'https://files.example.com', connected: true, needs_oauth: false },
        { ...MAIL, connected: true },
      ],
    });
  });

  test('asks once for the connections of a thousand servers', async () => {
    const routes = Array.from({ length: 1000 }, (_, at) => aServer(`server-${String(at)}`));
    const { list, asked } = endpointsOf(routes);
    expect((await list()).servers).toHaveLength(1000);
    expect(asked).toEqual([1000]);
  });

  test('has no server of a wildcard host, whose URL it does not know', async () => {
    const { list } = endpointsOf([aServer('mail'), { ...aServer('x'), host: '*.example.org' }]);
    expect((await list()).servers).toMatchObject([{ name: 'mail' }]);
  });

  test('is refused to a user who asks too often', async () => {
    const { list } = endpointsOf([aServer('mail')]);
    for (let times = 0; times < 120; times += 1) await list();
    await expect(list()).rejects.toMatchObject({ status: 429 });
  });
});

describe('A request to disconnect', () => {
  const servers = [aServer('chat'), aServer('files', { needsOAuth: false }), aServer('mail')];

  test('disconnects from the servers that it names, and answers with the list', async () => {
    const { disconnect, connected } = endpointsOf(servers, new Set(['team/mail', 'team/chat']));
    const routes = ['https://mail.example.com', 'https://files.example.com'];
    expect(await disconnect(JSON.stringify({ routes }))).toMatchObject({
      servers: [
        { name: 'chat', connected: true },
        { name: 'files', connected: true },
        { name: 'mail', connected: false },
      ],
    });
    expect([...connected]).toEqual(['team/chat']);
  });

  test.each<[string, string, string]>([
    ['no JSON', '{', 'the body'],
    ['a list', '["https://mail.example.com"]', 'the body is not a JSON object'],
    ['no routes', '{}', 'routes must be a list'],
    ['routes of another type', '{"routes":"https://mail.example.com"}', 'routes must be a list'],
    ['no route', '{"routes":[]}', 'routes must be a list'],
    ['two lists', '{"routes":["https://mail.example.com"],"routes":[]}', 'duplicate key'],
    ['a number', '{"routes":["https://mail.example.com",1]}', 'routes[1] is not the URL'],
    [
      'a server that is not there',
      '{"routes":["https://mail.example.com","https://other.example.com"]}',
      'routes[1] is not the URL of an MCP server',
    ],
  ])('with %s is refused, and does nothing', async (_what, body, message) => {
    const { disconnect, connected } = endpointsOf(servers, new Set(['team/mail']));
    await expect(disconnect(body)).rejects.toThrow(message);
    await expect(disconnect(body)).rejects.toMatchObject({ status: 400, reason: 'invalid-body' });
    expect([...connected]).toEqual(['team/mail']);
  });

  test('in a form is refused', async () => {
    const { disconnect } = endpointsOf(servers);
    const type = 'application/x-www-form-urlencoded';
    await expect(disconnect('routes=x', type)).rejects.toMatchObject({ reason: 'invalid-body' });
  });

  test('that is too long is refused', async () => {
    const { disconnect } = endpointsOf(servers);
    const body = JSON.stringify({ routes: ['x'.repeat(70_000)] });
    await expect(disconnect(body)).rejects.toMatchObject({ status: 413 });
  });
});
