import type { Route } from '../../crds/types.ts';
import { BrowserJar, type BrowserPage } from './browser-jar.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from './gateway-with-users.ts';
import { startUpstream, type Upstream } from './upstream.ts';

type Policy = NonNullable<Route['spec']['policy']>;

/** Header fields of a browser that opens a page. */
export const NAVIGATION = { 'sec-fetch-mode': 'navigate', accept: 'text/html,*/*;q=0.8' };

/** Routes for browsers in front of an upstream that echoes the path, and a browser that is signed in. */
export interface WebRoutesWorld extends AsyncDisposable {
  readonly users: GatewayWithUsers;
  readonly upstream: Upstream;
  /** A route for every user. */
  readonly app: string;
  /** A route for every user, on another host. */
  readonly other: string;
  /** An MCP route for every user. */
  readonly mcp: string;
  /** A public route. */
  readonly open: string;
  /** The route that `serve` sets the policy of. */
  readonly ruled: string;
  /** A browser that is signed in at `app`. */
  readonly browser: BrowserJar;
  /** Serves all routes, with this policy on `ruled`. */
  serve(policy: Policy): Promise<void>;
  /** Opens a page, and signs in if the identity provider asks for that. */
  signIn(browser: BrowserJar, url: string, login?: string): Promise<BrowserPage>;
  /** Moves the gateway's clock to this distance from the real time. */
  setClock(offsetMs: number): void;
  /** Counts the requests that reach the upstream while a function runs. */
  arrivalsDuring(run: () => Promise<unknown>): Promise<number>;
}

/** Starts the gateway, and signs the browser in. */
export async function startWebRoutesWorld(): Promise<WebRoutesWorld> {
  let offset = 0;
  const upstream = await startUpstream((message, response) => {
    message.resume();
    response.end(`upstream: ${message.url ?? ''}`);
  });
  const users = await startGatewayWithUsers({ now: () => Date.now() + offset });
  const [app, other, mcp] = [users.originOf('app'), users.originOf('other'), users.originOf('mcp')];
  const [open, ruled] = [users.originOf('open'), users.originOf('ruled')];
  const serve = async (policy: Policy): Promise<void> => {
    const route = { to: upstream.origin, allowAnyAuthenticatedUser: true };
    await users.configure({
      app: { ...route, from: app },
      other: { ...route, from: other },
      mcp: { ...route, from: mcp, mcp: { server: {} } },
      open: { from: open, to: upstream.origin, allowPublicUnauthenticatedAccess: true },
      ruled: { from: ruled, to: upstream.origin, policy },
    });
  };
  const signIn: WebRoutesWorld['signIn'] = async (browser, url, login = 'alice') => {
    const page = await browser.open(url);
    const isAsked = page.url.startsWith(users.identityProvider.issuer);
    return isAsked ? browser.submit(page, { login }) : page;
  };
  await serve({ allow: { and: [{ accept: true }] } });
  const browser = new BrowserJar();
  await signIn(browser, app);
  return {
    ...{ users, upstream, app, other, mcp, open, ruled, browser, serve, signIn },
    setClock: (offsetMs) => void (offset = offsetMs),
    async arrivalsDuring(run) {
      const before = upstream.requests.length;
      await run();
      return upstream.requests.length - before;
    },
    async [Symbol.asyncDispose]() {
      await users[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** The `Cookie` header with a browser's session at an origin. */
export function sessionCookieAt(browser: BrowserJar, origin: string): string {
  const { hostname, port } = new URL(origin);
  const name = `gatehouse-${port}`;
  return `${name}=${browser.cookie(hostname, name)?.value ?? ''}`;
}
