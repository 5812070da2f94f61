import { createHash } from 'node:crypto';

import type { Page } from 'playwright-core';

import { launchBrowser } from './browser.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from './gateway-with-users.ts';
import { discover, register, type FoundServer } from './signed-in-client.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const VERIFIER = 'a-verifier-of-more-than-43-characters-for-the-tests';

/** A host with an MCP route and a web route that is the attacker's, and a real browser. */
export interface SharedHostWorld extends AsyncDisposable {
  readonly users: GatewayWithUsers;
  readonly clock: { now: number };
  /** Origin of the shared host. */
  readonly shared: string;
  /** Origin of a host with a web route only. */
  readonly web: string;
  /** The attacker's web route serves this page. */
  readonly attack: { html: string; headers: Readonly<Record<string, string>> };
  /** Opens a window of its own in which alice looks at the consent page. */
  openConsent(): Promise<ConsentWindow>;
  /** Number of codes that the client has received. */
  codes(): number;
}

/** A browser whose user has the consent page before them. */
export interface ConsentWindow extends AsyncDisposable {
  readonly page: Page;
  /** URL of the consent page. */
  readonly url: string;
}

/** Starts the gateway, whose clock stands still, and the browser. */
export async function startSharedHostWorld(): Promise<SharedHostWorld> {
  const clock = { now: Date.now() };
  const attack: SharedHostWorld['attack'] = { html: '', headers: {} };
  const codes: string[] = [];
  const upstream = await startUpstream((message, response) => {
    message.resume();
    const url = new URL(message.url ?? '', 'http://upstream');
    const isScript = url.pathname.endsWith('.js');
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    if (isScript) return response.end('self.skipWaiting();');
    for (const [name, value] of Object.entries(attack.headers)) response.setHeader(name, value);
    return response.end(attack.html);
  });
  const client = await startUpstream((message, response) => {
    const code = new URL(message.url ?? '', 'http://client').searchParams.get('code');
    if (code !== null) codes.push(code);
    response.setHeader('content-type', 'text/html');
    response.end('<title>Done</title><h1>Done</h1>');
  });
  const users = await startGatewayWithUsers({ now: () => clock.now });
  const [shared, web] = [users.originOf('shared'), users.originOf('web')];
  await users.configure(routesOf(shared, web, upstream));
  const browser = await launchBrowser();
  const server = await discover(`${shared}/mcp`);
  return {
    ...{ users, clock, shared, web, attack },
    openConsent: async () => {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(await authorizationUrl(server, `${client.origin}/callback`));
      await page.getByLabel('Login').fill('alice');
      await page.getByRole('button').first().click();
      await page.getByRole('button', { name: 'Approve' }).waitFor();
      return { page, url: page.url(), [Symbol.asyncDispose]: () => context.close() };
    },
    codes: () => codes.length,
    [Symbol.asyncDispose]: async () => {
      await browser.close();
      await users[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
    },
  };
}

function routesOf(
  shared: string,
  web: string,
  upstream: Upstream,
): Parameters<GatewayWithUsers['configure']>[0] {
  const page = { to: upstream.origin, prefix: '/app', allowPublicUnauthenticatedAccess: true };
  const mcp = { to: upstream.origin, prefix: '/mcp', allowAnyAuthenticatedUser: true };
  return {
    app: { ...page, from: shared },
    mcp: { ...mcp, from: shared, mcp: { server: {} } },
    web: { ...page, from: web },
  };
}

async function authorizationUrl(server: FoundServer, redirectUri: string): Promise<string> {
  const clientId = await register(server, redirectUri);
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
    resource: server.resource,
  });
  return `${server.authorizationEndpoint}?${query.toString()}`;
}
