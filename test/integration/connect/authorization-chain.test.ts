import { createHash } from 'node:crypto';

import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';

import { StoreUnavailableError } from '../../../proxy/store/store-unavailable-error.ts';

import { BrowserJar } from '../../support/browser-jar.ts';
import {
  startConnectWorld,
  walk,
  type Answers,
  type ConnectWorld,
} from '../../support/connect-world.ts';
import { discover, register } from '../../support/signed-in-client.ts';

const CLIENT = 'https://client.example/callback';
const CHALLENGE = createHash('sha256').update('a-verifier').digest('base64url');

let world: ConnectWorld;

afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

/** Takes a user through the authorization request of a client, and returns what the client gets. */
async function authorize(
  browser: BrowserJar,
  answers: Answers = {},
  parameters: Readonly<Record<string, string>> = {},
): Promise<URLSearchParams> {
  const server = await discover(world.files.url);
  const clientId = await register(server, CLIENT);
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: clientId, redirect_uri: CLIENT, state: 'the-state' },
    ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256', resource: server.resource },
    ...parameters,
  });
  return resultAt(browser, `${server.authorizationEndpoint}?${query.toString()}`, answers);
}

async function resultAt(
  browser: BrowserJar,
  url: string,
  answers: Answers,
): Promise<URLSearchParams> {
  const stopAt = (next: string): boolean => next.startsWith(CLIENT);
  const page = await walk(browser, url, { ...answers, stopAt });
  const { location = '' } = page.headers;
  if (!stopAt(location)) throw new Error(`not sent to the client: ${page.url} ${page.body}`);
  return new URL(location).searchParams;
}

describe.each([
  ['consent is given at the host of the route', false],
  ['consent is given at the authenticate host', true],
])('A client whose user approves it, where %s', (_where, hasAuthenticateHost) => {
  beforeEach(async () => {
    world = await startConnectWorld({ hasAuthenticateHost });
  });

  test('gets its code once the user has connected the server', async () => {
    const result = await authorize(new BrowserJar());

    expect(result.get('code')).toEqual(expect.any(String));
    expect(result.get('state')).toBe('the-state');
    expect(await world.isConnected('alice', world.files)).toBe(true);
    const events = Map.groupBy(world.users.gateway.logs(), ({ event }) => event);
    expect([...events.keys()]).toEqual(
      expect.arrayContaining(['consent-given', 'connection-made', 'code-issued']),
    );
    const [given] = events.get('consent-given') ?? [];
    expect(given?.['grant-id']).toEqual(expect.any(String));
    expect(events.get('code-issued')).toMatchObject([{ 'grant-id': given?.['grant-id'] }]);
  });

  test('gets its code at once if the user is connected', async () => {
    const browser = new BrowserJar();
    await authorize(browser);
    const { authorizationRequests } = world.files.authorizationServer;
    const before = authorizationRequests.length;

    expect((await authorize(browser)).has('code')).toBe(true);
    expect(authorizationRequests).toHaveLength(before);
  });

  test('gets an error if the user does not connect', async () => {
    const result = await authorize(new BrowserJar(), { upstreamLogin: '' });

    expect(Object.fromEntries(result)).toEqual({
      error: 'access_denied',
      error_description: 'the user is not connected to the server behind the gateway',
      state: 'the-state',
      iss: world.files.url,
    });
    expect(await world.isConnected('alice', world.files)).toBe(false);
  });

  test('gets an error if the server cannot be connected', async () => {
    world.files.mcpServer.changeMetadata = (metadata) => ({
      ...metadata,
      authorization_servers: ['https://login.evil.example'],
    });
    const result = await authorize(new BrowserJar());

    expect(result.get('error')).toBe('server_error');
    expect(result.get('state')).toBe('the-state');
    expect(world.lastAuditEvent()).toMatchObject({ event: 'connection-failed', user: 'alice' });
  });

  test('gets an error if the authorization server is down when the code is redeemed', async () => {
    world.files.authorizationServer.replace('token', (_message, response) => {
      response.writeHead(500).end('<h1>Internal error</h1>');
    });

    expect((await authorize(new BrowserJar())).get('error')).toBe('temporarily_unavailable');
  });

  test('gets an error if the gateway cannot store its code', async () => {
    const { authorizationCodes } = world.users.gateway.stores;
    jest
      .spyOn(authorizationCodes, 'save')
      .mockRejectedValueOnce(new StoreUnavailableError('the store is away'));

    expect((await authorize(new BrowserJar())).get('error')).toBe('temporarily_unavailable');
  });

  test('gets interaction_required for prompt=none while the user is not connected', async () => {
    const browser = new BrowserJar();
    const server = await discover(world.files.url);
    const clientId = await register(server, CLIENT);
    const query = new URLSearchParams({
      ...{ response_type: 'code', client_id: clientId, redirect_uri: CLIENT },
      ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256', resource: server.resource },
    });
    const url = `${server.authorizationEndpoint}?${query.toString()}`;
    expect((await resultAt(browser, url, { upstreamLogin: '' })).get('error')).toBe(
      'access_denied',
    );
    const silent = await walk(browser, `${url}&prompt=none`);

    // The consent is remembered. A website gets such an error only by a click.
    expect(silent.body).toContain('error=interaction_required');
    expect(silent.hops.filter(({ url: each }) => each.includes('/auth?'))).toEqual([]);
  });
});
