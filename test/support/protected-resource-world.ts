import { expect } from '@jest/globals';

import type { BrowserJar } from './browser-jar.ts';
import { expectJsonRpcError } from './expect-json-rpc-error.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from './gateway-with-users.ts';
import { send, type Answer, type RequestOptions } from './http-client.ts';
import { sessionResult } from './mcp-route.ts';
import { challengeParameters, signInClient, type SignedInClient } from './signed-in-client.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** Path of protected resource metadata (RFC 9728). */
export const METADATA = '/.well-known/oauth-protected-resource';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

/** A host with one MCP route, a host with several, and a client of each. */
export interface ProtectedResourceWorld extends AsyncDisposable {
  readonly gateway: GatewayWithUsers['gateway'];
  readonly upstream: Upstream;
  /** The host with one MCP route, which has no prefix. */
  readonly only: string;
  /** The host with MCP routes at `/files`, `/files/drafts` and `/mail`, and a web route. */
  readonly several: string;
  readonly client: SignedInClient;
  /** A client of `/files`. */
  readonly filesClient: SignedInClient;
  /** Fails if a request reaches the upstream while a function runs. */
  expectUpstreamUntouched(run: () => Promise<void>): Promise<void>;
}

/** Starts the gateway, and signs both clients in. */
export async function startProtectedResourceWorld(): Promise<ProtectedResourceWorld> {
  const upstream = await startUpstream((message, response) => {
    message.resume();
    sessionResult(message, response);
  });
  const world = await startGatewayWithUsers();
  const [only, several] = [world.originOf('only'), world.originOf('several')];
  const route = { to: upstream.origin, allowAnyAuthenticatedUser: true };
  await world.configure({
    only: { ...route, from: only, mcp: { server: {} } },
    files: {
      ...{ ...route, from: several, prefix: '/files' },
      mcp: { server: { subPaths: [{ path: '/reports/2026' }, { path: '/other' }] } },
    },
    drafts: { ...route, from: several, prefix: '/files/drafts', mcp: { server: {} } },
    mail: { ...route, from: several, path: '/mail', mcp: { server: {} } },
    web: { ...route, from: several },
  });
  return {
    ...{ gateway: world.gateway, upstream, only, several },
    client: await signInClient(only),
    filesClient: await signInClient(`${several}/files`),
    async expectUpstreamUntouched(run) {
      const before = upstream.requests.length;
      await run();
      expect(upstream.requests).toHaveLength(before);
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** The header field that carries a token (RFC 6750, section 2.1). */
export function bearer(token: string): NonNullable<RequestOptions['headers']> {
  return { authorization: `Bearer ${token}` };
}

/** Calls an MCP endpoint. */
export function post(url: string, headers: RequestOptions['headers'] = {}): Promise<Answer> {
  const jsonHeaders = { 'content-type': 'application/json', ...headers };
  return send(url, { method: 'POST', headers: jsonHeaders, body: PING });
}

/** Fails unless a client was refused with the address of the metadata, and no further explanation. */
export function expectChallenge(
  answer: Answer,
  { metadata, error }: { readonly metadata: string; readonly error?: string },
): void {
  const reason = error === undefined ? 'no-token' : 'invalid-token';
  expectJsonRpcError(answer, { status: 401, code: 40101, reason });
  const parameters = { ...(error !== undefined && { error }), resource_metadata: metadata };
  expect(challengeParameters(answer.headers['www-authenticate'])).toEqual(parameters);
}

/** The `Cookie` header of a browser at an origin, which must have cookies. */
export function cookiesAt(browser: BrowserJar, origin: string): string {
  const cookies = browser.cookies.filter(({ host }) => host === new URL(origin).hostname);
  expect(cookies).not.toHaveLength(0);
  return cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
}
