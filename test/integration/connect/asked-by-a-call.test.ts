import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { BrowserJar } from '../../support/browser-jar.ts';
import { startConnectWorld, walk, type ConnectWorld } from '../../support/connect-world.ts';
import type { Answer } from '../../support/http-client.ts';
import { callMcp, signInClient } from '../../support/signed-in-client.ts';
import { ADMIN_TOOL } from '../../support/upstream-oauth/protected-mcp-server.ts';

const MODERN = '2026-07-28';

let world: ConnectWorld;

beforeEach(async () => {
  world = await startConnectWorld();
});

afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

/** Calls a tool as a client that opens URLs for its user. */
function callTool(name: string, token: string): Promise<Answer> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } },
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
  };
  const params = { name, arguments: {}, _meta };
  const headers = {
    'mcp-protocol-version': MODERN,
    'mcp-method': 'tools/call',
    'mcp-name': name,
  };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  return callMcp(world.files.url, token, message, headers);
}

function linkIn({ body }: Answer): string {
  const [, link = ''] = /"url":"([^"]+)"/.exec(body) ?? [];
  expect(body).toContain('input_required');
  expect(link).toContain(`${world.files.url}/.gateway/mcp/connect?link=`);
  return link;
}

test('a call whose token the upstream refuses leads through a link to a call that works', async () => {
  const browser = new BrowserJar();
  await walk(browser, world.connectUrl(world.files), { upstreamLogin: 'first-account' });
  const { accessToken } = await signInClient(world.files.url, { browser });
  expect((await callTool('whoami', accessToken)).body).toContain('first-account');

  await world.files.authorizationServer.forget('AccessToken');
  await world.files.authorizationServer.forget('RefreshToken');
  const link = linkIn(await callTool('whoami', accessToken));

  const stranger = await walk(new BrowserJar(), link, { login: 'bob' });
  expect(stranger.status).toBe(403);
  browser.deleteCookies(({ name }) => !name.startsWith('gatehouse-'));
  const page = await walk(browser, link, { upstreamLogin: 'second-account' });
  expect(page.body).toContain('You are connected');
  expect((await callTool('whoami', accessToken)).body).toContain('second-account');
});

test('a call that needs more scopes leads to a connection for all of them', async () => {
  const browser = new BrowserJar();
  await walk(browser, world.connectUrl(world.files));
  const { accessToken } = await signInClient(world.files.url, { browser });
  const link = linkIn(await callTool(ADMIN_TOOL, accessToken));
  expect((await walk(browser, link)).body).toContain('You are connected');

  const [sent] = world.files.authorizationServer.authorizationRequests.slice(-1);
  expect(sent?.get('scope')?.split(' ')).toEqual(
    expect.arrayContaining(['read', 'write', 'admin']),
  );
  expect((await callTool(ADMIN_TOOL, accessToken)).body).not.toContain('input_required');
});
