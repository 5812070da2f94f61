import type { BrowserJar, BrowserPage } from './browser-jar.ts';
import { startGateway, type TestGateway } from './gateway.ts';
import { manifestsWithUsers, type RouteSpec } from './gateway-with-users.ts';
import { startIdentityProvider, type TestIdentityProvider } from './identity-provider.ts';
import { sessionResult } from './mcp-route.ts';
import { startUpstream, type ReceivedRequest } from './upstream.ts';

const MINUTE = 60_000;
const SESSION_MS = 14 * 60 * MINUTE;

/** Settings that tests change. */
export interface TwoProvidersSettings {
  /** Where users sign in unless a Route names another. With `none`, every Route names one. */
  readonly signIn?: 'company' | 'partner' | 'none';
  readonly withAuthenticateUrl?: boolean;
  /** Provider of the users of the route `partnerMcp`. */
  readonly partnerMcpUses?: 'company' | 'partner';
  /** Policy of the route `partnerMcp`; by default every user may. */
  readonly partnerMcpAllows?: Readonly<Record<string, unknown>>;
}

/**
 * A gateway with two identity providers, `company` and `partner`. Both have a user alice, with the same `sub`
 * and the same address. Routes: `/` and `/partner` of one host, and two MCP routes of another host.
 */
export interface TwoProvidersWorld extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly company: TestIdentityProvider;
  readonly partner: TestIdentityProvider;
  /** Its users are those of the provider with `signIn`. */
  readonly app: string;
  /** Its users are the partner's. On the host of `app`. */
  readonly partnerApp: string;
  readonly companyMcp: string;
  readonly partnerMcp: string;
  readonly authenticate: string;
  /** The last request that reached the upstream of all routes. */
  lastRequest(): ReceivedRequest | undefined;
  serve(settings?: TwoProvidersSettings): Promise<void>;
  /** Moves the clock of gateway and stores to the end of every session. */
  expireSessions(): void;
}

/** Starts one, whose sign-in provider is `company`. */
export async function startTwoProvidersWorld(): Promise<TwoProvidersWorld> {
  let offset = 0;
  await using opening = new AsyncDisposableStack();
  const gateway = opening.use(await startGateway({ now: () => Date.now() + offset }));
  const company = opening.use(await startIdentityProvider({ refreshTokens: 'rotated' }));
  const partner = opening.use(await startIdentityProvider({ refreshTokens: 'rotated' }));
  const upstream = opening.use(await startUpstream(sessionResult));
  const originOf = (name: string): string => `http://${name}.localhost:${String(gateway.port)}`;
  const [app, tools, authenticate] = [originOf('app'), originOf('tools'), originOf('auth')];
  const route = { to: upstream.origin, allowAnyAuthenticatedUser: true };
  const mcp = { ...route, from: tools, mcp: { server: {} } };
  const world: TwoProvidersWorld = {
    ...{ gateway, company, partner, app, authenticate },
    partnerApp: `${app}/partner`,
    companyMcp: `${tools}/company`,
    partnerMcp: `${tools}/partner`,
    lastRequest: () => upstream.requests.at(-1),
    expireSessions: () => void (offset += SESSION_MS),
    async serve({
      signIn = 'company',
      withAuthenticateUrl = false,
      partnerMcpUses = 'partner',
      partnerMcpAllows = { authenticated_user: true },
    } = {}) {
      const routes: Readonly<Record<string, RouteSpec>> = {
        app: { ...route, from: app, ...(signIn === 'none' && { identityProvider: 'company' }) },
        'partner-app': { ...route, from: app, prefix: '/partner', identityProvider: 'partner' },
        'company-mcp': { ...mcp, prefix: '/company', identityProvider: 'company' },
        'partner-mcp': {
          ...{ to: upstream.origin, from: tools, mcp: { server: {} }, prefix: '/partner' },
          ...{ identityProvider: partnerMcpUses, policy: { allow: { and: [partnerMcpAllows] } } },
        },
      };
      const hosts = withAuthenticateUrl ? [authenticate] : [app, tools];
      for (const [name, { redirectUris }] of Object.entries({ company, partner })) {
        redirectUris.clear();
        const path = name === signIn ? '' : `/${name}`;
        for (const host of hosts) redirectUris.add(`${host}/.gateway/callback${path}`);
      }
      const identityProviders = [
        providerSpec('company', company, signIn),
        providerSpec('partner', partner, signIn),
      ];
      const settings = {
        identityProviders,
        ...(withAuthenticateUrl && { authenticateUrl: authenticate }),
      };
      const documents = [
        manifestsWithUsers(routes, settings, company),
        JSON.stringify(secretOf('company', company)),
        JSON.stringify(secretOf('partner', partner)),
      ];
      await gateway.apply(documents.join('\n---\n'));
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
  await world.serve();
  const opened = opening.move();
  return world;
}

function providerSpec(name: string, { issuer, clientId }: TestIdentityProvider, signIn: string) {
  return {
    ...{ name, issuerUrl: issuer, clientId, signIn: name === signIn },
    clientSecretRef: { name, key: 'client-secret' },
    scopes: ['openid', 'email', 'profile', 'groups'],
  };
}

function secretOf(name: string, { clientSecret }: TestIdentityProvider): object {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, labels: { 'gatehouse.dev/referable': 'true' } },
    stringData: { 'client-secret': clientSecret },
  };
}

/** Signs alice in at a URL, or finds that she is signed in there. */
export async function signInAlice(browser: BrowserJar, url: string): Promise<BrowserPage> {
  const page = await browser.open(url);
  return page.forms.length === 0 ? page : browser.submit(page, { login: 'alice' });
}
