import { expect } from '@jest/globals';

import type { BrowserPage } from './browser-jar.ts';
import { eventually } from './eventually.ts';
import type { GatewayFleet } from './gateway-fleet.ts';
import { membersOf, send, type Answer } from './http-client.ts';
import { callMcp } from './signed-in-client.ts';

/** An address whose requests do not count towards the limit of the clients. */
const PROBE = '127.0.2.1';

const PING = { jsonrpc: '2.0', id: 5, method: 'ping' };
const REGISTRATION = JSON.stringify({ redirect_uris: ['http://127.0.0.1:1/callback'] });

/** Calls the MCP server with a token. */
export function call(
  { mcpUrl }: Pick<GatewayFleet, 'mcpUrl'>,
  { accessToken }: { readonly accessToken: string },
): Promise<Answer> {
  return callMcp(mcpUrl, accessToken, PING);
}

/** Registers a client, which needs Redis. */
export function register({ mcpUrl }: Pick<GatewayFleet, 'mcpUrl'>): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  const options = { method: 'POST', headers, body: REGISTRATION, from: PROBE };
  return send(`${mcpUrl}/.gateway/mcp/register`, options);
}

/** Waits until every process uses Redis again. */
export async function recovered(fleet: GatewayFleet): Promise<void> {
  let passed = 0;
  for (const proxy of fleet.members.keys()) {
    fleet.balancer.only(proxy);
    const works = async (): Promise<boolean> => (await register(fleet)).status !== 503;
    passed += await eventually(`proxy ${String(proxy)} uses Redis again`, works);
  }
  fleet.balancer.spread();
  console.info(`all use Redis again after ${String(passed)} ms`);
}

/** Fails unless an OAuth endpoint refused a request because Redis is unreachable. */
export function expectOAuthUnavailable(answer: Answer): void {
  expectUnavailable(answer);
  expect(membersOf(answer)).toMatchObject({ error: 'temporarily_unavailable' });
}

/** Fails unless a browser got a page because Redis is unreachable. */
export function expectUnavailablePage(page: BrowserPage): void {
  expectUnavailable(page);
  expect(page.headers['content-type']).toContain('text/html');
  expect(page.body).toContain('Service Unavailable');
}

/** Fails unless an MCP client was refused because Redis is unreachable. */
export function expectJsonRpcUnavailable(answer: Answer): void {
  expectUnavailable(answer);
  expect(membersOf(answer)).toMatchObject({
    jsonrpc: '2.0',
    error: { code: 50301, data: { reason: 'store-unavailable' } },
  });
}

function expectUnavailable(answer: Pick<Answer, 'status' | 'headers' | 'body'>): void {
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 503 });
  expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
}
