import { expect } from '@jest/globals';

import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
import type { Stores } from '../../proxy/store/stores.ts';
import type { ProcessTracing } from '../../shared/telemetry/tracing/settings/process-tracing.ts';
import type { SameSite } from '../../shared/snapshot/snapshot.ts';
import type { BrowserJar, BrowserPage } from './browser-jar.ts';
import { manifestsWithUsers, type RouteSpec } from './gateway-with-users.ts';
import { startGateway, type TestGateway } from './gateway.ts';
import {
  startIdentityProvider,
  type IdentityProviderOptions,
  type TestIdentityProvider,
} from './identity-provider.ts';
import { startUpstream } from './upstream.ts';

/** The configuration that a gateway of the world serves. */
export interface SignInSettings {
  /** Origins of the routes that require a signed-in user. */
  readonly routes: readonly string[];
  /** Origins of the public routes. */
  readonly publicRoutes?: readonly string[];
  readonly authenticateUrl?: string;
  readonly sameSite?: SameSite;
  readonly sessionSeconds?: number;
  /** Settings of the identity provider that differ from the right ones; `none` leaves it out. */
  readonly provider?: ProviderSettings | 'none';
}

/** Settings of the identity provider that tests change. */
export interface ProviderSettings {
  readonly name?: string;
  readonly issuerUrl?: string;
  readonly clientSecret?: string;
  readonly scopes?: readonly string[];
  readonly authorizationParams?: Readonly<Record<string, string>>;
  readonly groupsClaim?: string;
  readonly groupsLookup?: { readonly url: string; readonly groupsPath: string };
  readonly requireVerifiedEmail?: boolean;
}

/** Response of the upstream of every route: the user in the assertion, and the requested URL. */
export interface UpstreamAnswer {
  readonly user: string;
  readonly email: string | null;
  readonly groups: readonly string[];
  readonly url: string;
}

/** A whole gateway, its identity provider, and an upstream. */
export interface SignInWorld extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly provider: TestIdentityProvider;
  /** Name of the session cookie. */
  readonly cookieName: string;
  /** Origin of a name under `localhost` on the gateway's port. */
  originOf(name: string): string;
  /** Serves these routes with these settings from now on. */
  serve(settings: SignInSettings): Promise<void>;
  /** Moves the gateway's clock, and no other. */
  advance(milliseconds: number): void;
  /** The last record of a request that was refused or failed. */
  lastFailure(): Readonly<Record<string, unknown>> | undefined;
}

export interface SignInWorldOptions {
  readonly devAllowLoopback?: boolean;
  /** Wraps the stores of the gateway. */
  readonly wrapStores?: (stores: Stores) => Stores;
  readonly identityProvider?: IdentityProviderOptions;
  readonly tracing?: ProcessTracing;
}

/** Starts a world. `serve` must be called before the first request. */
export async function startSignInWorld({
  wrapStores,
  identityProvider,
  ...options
}: SignInWorldOptions = {}): Promise<SignInWorld> {
  let offset = 0;
  const now = (): number => Date.now() + offset;
  const stores = wrapStores && { stores: wrapStores(createMemoryStores(now)) };
  await using opening = new AsyncDisposableStack();
  const gateway = opening.use(await startGateway({ now, ...stores, ...options }));
  const provider = opening.use(await startIdentityProvider(identityProvider));
  const upstream = opening.use(
    await startUpstream((message, response) => {
      response.setHeader('content-type', 'application/json');
      const assertion = message.headers['x-gateway-assertion']?.toString();
      response.end(JSON.stringify(answerFor(assertion, message.url ?? '')));
    }),
  );
  const opened = opening.move();
  return {
    gateway,
    provider,
    cookieName: `gatehouse-${String(gateway.port)}`,
    originOf: (name) => `http://${name}.localhost:${String(gateway.port)}`,
    async serve(settings) {
      const { authenticateUrl, routes, publicRoutes = [] } = settings;
      const hosts =
        authenticateUrl === undefined ? [...routes, ...publicRoutes] : [authenticateUrl];
      for (const origin of hosts) provider.redirectUris.add(`${origin}/.gateway/callback`);
      await gateway.apply(manifestsOf(settings, provider, upstream.origin));
    },
    advance: (milliseconds) => void (offset += milliseconds),
    lastFailure: () => gateway.logs().findLast(({ reason }) => reason !== undefined),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** The claims of an assertion that the gateway makes. */
interface Claims {
  readonly iss: string;
  readonly sub: string;
  readonly email?: string;
  readonly groups: readonly string[];
}

const NO_USER: Claims = { iss: '', sub: 'nobody', groups: [] };

function answerFor(assertion: string | undefined, path: string): UpstreamAnswer {
  const payload = assertion?.split('.')[1];
  const text = payload === undefined ? undefined : Buffer.from(payload, 'base64url').toString();
  const claims = text === undefined ? NO_USER : (JSON.parse(text) as Claims);
  const { iss, sub: user, email = null, groups } = claims;
  return { user, email, groups, url: iss + path };
}

function manifestsOf(
  settings: SignInSettings,
  identityProvider: TestIdentityProvider,
  to: string,
): string {
  const { routes, publicRoutes = [], authenticateUrl, sameSite, sessionSeconds } = settings;
  const specs: readonly RouteSpec[] = [
    ...routes.map((from) => ({ from, to, allowAnyAuthenticatedUser: true })),
    ...publicRoutes.map((from) => ({ from, to, allowPublicUnauthenticatedAccess: true })),
  ];
  const cookie = {
    ...(sameSite && { sameSite }),
    ...(sessionSeconds !== undefined && { expiration: `${String(sessionSeconds)}s` }),
  };
  const { provider = {} } = settings;
  return manifestsWithUsers(
    Object.fromEntries(specs.map((spec, index) => [`route-${String(index)}`, spec])),
    {
      cookie,
      ...(authenticateUrl !== undefined && { authenticateUrl }),
      identityProviders: provider === 'none' ? [] : [providerSpec(provider, identityProvider)],
    },
    provider === 'none' ? identityProvider : { ...identityProvider, ...secretOf(provider) },
  );
}

function secretOf({ clientSecret }: ProviderSettings): { readonly clientSecret?: string } {
  return clientSecret === undefined ? {} : { clientSecret };
}

function providerSpec(settings: ProviderSettings, { issuer, clientId }: TestIdentityProvider) {
  const { name = 'test', issuerUrl, scopes } = settings;
  const { authorizationParams, groupsClaim, groupsLookup, requireVerifiedEmail } = settings;
  return {
    ...{ name, issuerUrl: issuerUrl ?? issuer, clientId },
    clientSecretRef: { name: 'identity-provider', key: 'client-secret' },
    scopes: [...(scopes ?? ['openid', 'email', 'profile', 'groups'])],
    ...(authorizationParams && { authorizationParams }),
    ...(groupsClaim !== undefined && { groupsClaim }),
    ...(groupsLookup && { groupsLookup }),
    ...(requireVerifiedEmail !== undefined && { requireVerifiedEmail }),
  };
}

/** Expects a page that reports a refused sign-in, and a log record with the reason. */
export function expectRefused(page: BrowserPage, reason: string, world: SignInWorld): void {
  expect(page.status).toBe(400);
  expect(page.body).toContain('Try again');
  expect(world.lastFailure()).toMatchObject({
    ...{ level: 'warn', reason },
    'request-id': page.headers['x-request-id'],
  });
}

/** Opens a page, and signs in with the form of the identity provider if that is where it leads. */
export async function signInAt(
  browser: BrowserJar,
  url: string,
  login = 'alice',
): Promise<BrowserPage> {
  const page = await browser.open(url);
  return page.url.includes('/interaction/') ? browser.submit(page, { login }) : page;
}

/** Signs in up to a URL, and returns it without opening it, as an attacker who sends a link to it. */
export async function signInUntil(
  browser: BrowserJar,
  url: string,
  isLast: RegExp,
): Promise<string> {
  const stopAt = (next: string): boolean => isLast.test(next);
  const page = await browser.open(url, { stopAt });
  const last =
    page.forms.length === 0 ? page : await browser.submit(page, { login: 'alice' }, { stopAt });
  return new URL(last.headers.location ?? '', last.url).href;
}

/** Returns the response of the upstream; throws if the page is a different one. */
export function upstreamAnswer({ status, url, body }: BrowserPage): UpstreamAnswer {
  if (status !== 200 || !body.startsWith('{')) throw new Error(`${String(status)} ${url}: ${body}`);
  // `answerFor` makes this form.
  return JSON.parse(body) as UpstreamAnswer;
}
