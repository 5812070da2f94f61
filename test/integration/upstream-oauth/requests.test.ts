import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';

import { membersOf } from '../../support/http-client.ts';
import { openForAll } from '../../support/open-for-all.ts';
import { errorIn, refresh } from '../../support/session-world.ts';
import { callMcp, signInClient } from '../../support/signed-in-client.ts';
import {
  startUpstreamOAuthWorld,
  type UpstreamOAuthWorld,
} from '../../support/upstream-oauth/upstream-oauth-world.ts';

const MODES = ['auto', 'legacy', 'classic'] as const;
const WHOAMI = { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'whoami' } };
const HOUR = 3600 * 1000;

beforeEach(() => {
  // The SDK 2.x reports each refresh that was refused.
  jest.spyOn(console, 'warn').mockImplementation(() => undefined);
});

/** Makes the upstream refuse every token so far, and its authorization server every refresh of them. */
async function loseTokens({ authorizationServer }: UpstreamOAuthWorld): Promise<void> {
  await authorizationServer.forget('AccessToken');
  await authorizationServer.forget('RefreshToken');
}

function reasonOf(answer: Parameters<typeof membersOf>[0]): unknown {
  const { error } = membersOf(answer) as { error?: { data?: { reason?: unknown } } };
  return error?.data?.reason;
}

describe.each(MODES)('the official client (%s)', (mode) => {
  const world = openForAll(() =>
    // The gateway registers itself, and for more than the challenge names.
    startUpstreamOAuthWorld({ server: { challengedScope: 'read' } }),
  );

  afterEach(() => {
    world().server.judge = () => 'accept';
  });

  test('has its user connect once, and the upstream sees its own tokens only', async () => {
    const client = world().client('alice', { mode });
    expect(await client.callTool('whoami')).toContain('up-alice');
    expect(client.authorizations).toBe(1);
    const sent = world()
      .server.authorizations()
      .filter((value) => value !== undefined);
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.join()).not.toContain('gte_');
    expect(sent.join()).not.toContain(client.accessToken);
  });

  test('notices nothing of a token that the upstream refuses and that can be refreshed', async () => {
    const client = world().client('alice', { mode });
    await client.callTool('whoami');
    await world().authorizationServer.forget('AccessToken');
    expect(await client.callTool('whoami')).toContain('up-alice');
    expect(client.authorizations).toBe(1);
  });

  test('authorizes again, once, after the token is lost', async () => {
    const client = world().client('alice', { mode });
    await client.callTool('whoami');
    await loseTokens(world());
    expect(await client.callTool('whoami')).toContain('up-alice');
    expect(client.authorizations).toBe(2);
    expect(await client.callTool('whoami')).toContain('up-alice');
    expect(client.authorizations).toBe(2);
  });

  test('authorizes again, once, for scopes that a tool needs', async () => {
    const client = world().client('bob', { mode });
    await client.callTool('whoami');
    expect(await client.callTool('delete_report')).toBe('deleted');
    expect(client.authorizations).toBe(2);
  });

  test('gets the upstream’s 403 if new scopes do not help', async () => {
    const client = world().client('carol', { mode });
    await client.callTool('whoami');
    world().server.judge = () => 'insufficient-scope';
    await expect(client.callTool('whoami')).rejects.toThrow();
    expect(client.authorizations).toBe(2);
  });

  test('that opens URLs keeps its token while its user connects again', async () => {
    const client = world().client('alice', { mode, opensUrls: true });
    // The server has no sessions, so only clients of 2026-07-28 can be asked.
    await client.callTool('whoami');
    await loseTokens(world());
    expect(await client.callTool('whoami')).toContain('up-alice');
    const isAsked = mode === 'auto';
    expect(client.openedUrls).toHaveLength(isAsked ? 1 : 0);
    expect(client.authorizations).toBe(isAsked ? 1 : 2);
    for (const url of client.openedUrls) expect(url).toMatch(/\/\.gateway\/mcp\/connect\?/);
  });
});

test('scopes that the authorization server refuses lock nobody out', async () => {
  await using world = await startUpstreamOAuthWorld({ server: { challengedScope: 'read' } });
  // A client that registered itself may only ask for the scopes that it registered.
  world.authorizationServer.changeMetadata = (metadata) => ({
    ...metadata,
    scopes_supported: ['read', 'write', 'offline_access'],
  });
  const client = world.client();
  await client.callTool('whoami');
  await expect(client.callTool('delete_report')).rejects.toThrow();
  expect(client.authorizations).toBe(2);
  // The refused authorization cost the client its tokens.
  expect(await client.callTool('whoami')).toContain('up-alice');
  expect(client.authorizations).toBe(3);
  await expect(client.callTool('delete_report')).rejects.toThrow();
  expect(client.authorizations).toBe(3);
});

test('a refresh is refused, and its token not used up, until the user has connected again', async () => {
  await using world = await startUpstreamOAuthWorld();
  const { url } = world;
  await world.client().callTool('whoami');
  const client = await signInClient(url);
  await loseTokens(world);
  const refused = await callMcp(url, client.accessToken, WHOAMI);
  expect({ status: refused.status, reason: reasonOf(refused) }).toEqual({
    ...{ status: 401, reason: 'not-connected' },
  });
  for (let time = 0; time < 2; time += 1) {
    expect(errorIn(await refresh(client))).toEqual({ status: 400, error: 'invalid_grant' });
  }
  await world.visit(world.connectUrl(), 'alice', client.browser);
  expect((await refresh(client)).status).toBe(200);
  expect((await callMcp(url, client.accessToken, WHOAMI)).status).toBe(200);
});

test('a token that has expired while its server is down is 503, and is good again afterwards', async () => {
  await using world = await startUpstreamOAuthWorld({
    authorizationServer: { accessTokenSeconds: 60 },
  });
  const { url, authorizationServer } = world;
  await world.client().callTool('whoami');
  const client = await signInClient(url);
  world.advance(HOUR / 10);
  authorizationServer.replace('token', (_request, response) => response.writeHead(500).end());
  const answer = await callMcp(url, client.accessToken, WHOAMI);
  expect(answer.status).toBe(503);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(answer.headers).not.toHaveProperty('www-authenticate');
  const calls = world.users.gateway
    .logs()
    .filter(({ message }) => message === 'upstream OAuth call');
  expect(calls.at(-1)).toMatchObject({
    ...{ step: 'token', outcome: 'status-500', 'request-id': answer.headers['x-request-id'] },
  });

  authorizationServer.replace('token', undefined);
  world.advance(60 * 1000);
  expect((await callMcp(url, client.accessToken, WHOAMI)).status).toBe(200);
});
