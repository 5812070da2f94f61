import { buffer } from 'node:stream/consumers';

import { WebSocketServer } from 'ws';

import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
import type { ProcessTracing } from '../../shared/telemetry/tracing/settings/process-tracing.ts';
import { BrowserJar } from './browser-jar.ts';
import { failingStores } from './failing-stores.ts';
import {
  startGatewayWithUsers,
  type GatewayWithUsers,
  type RouteSpec,
  type Settings,
} from './gateway-with-users.ts';
import { startMachineIssuer, type MachineIssuer } from './machine-issuer.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** Routes that read bearer tokens, users, and a provider that issues JWTs to machines. */
export interface BearerWorld extends AsyncDisposable {
  readonly users: GatewayWithUsers;
  readonly upstream: Upstream;
  readonly machines: MachineIssuer;
  /** A web route for JWTs, with a policy for the subject `robot`; WebSockets too. */
  readonly jwt: string;
  /** An MCP route for JWTs and external tokens, for every user. */
  readonly mcp: string;
  /** A web route for access tokens of users. */
  readonly access: string;
  /** A web route for people. */
  readonly people: string;
  /** A public route. */
  readonly open: string;
  /** The access token of the last user who signed in. */
  accessToken(): string;
  /** The identity providers in the settings: of the users, and of the machines. */
  readonly identityProviders: NonNullable<Settings['identityProviders']>;
  /** Serves the routes, with these changes to the settings and the routes. */
  serve(settings?: Settings, routes?: Readonly<Record<string, Partial<RouteSpec>>>): Promise<void>;
  /** Signs a user in with a new browser at `people`. */
  signIn(login: string): Promise<BrowserJar>;
  /** Makes the stores unavailable, or available again. */
  setStoresAway(isAway: boolean): void;
  /** Moves the gateway's clock to this distance from the real time. */
  setClock(offsetMs: number): void;
  /** Returns the reasons of the refusals that were logged while a function ran. */
  reasonsDuring(run: () => Promise<unknown>): Promise<readonly unknown[]>;
}

const ROBOTS = { allow: { and: [{ user: 'robot' }] } };

/** Starts everything and serves the routes. */
export async function startBearerWorld(
  options: { readonly tracing?: ProcessTracing } = {},
): Promise<BearerWorld> {
  const started = new AsyncDisposableStack();
  let offset = 0;
  let accessToken = '';
  const upstream = started.use(await startUpstream(answerMcp));
  const webSockets = new WebSocketServer({ server: upstream.server });
  started.defer(() => webSockets.close());
  const machines = started.use(await startMachineIssuer());
  const now = (): number => Date.now() + offset;
  const failing = failingStores(createMemoryStores(now));
  const { stores } = failing;
  const users = started.use(
    await startGatewayWithUsers({ now, stores, ...options }, { introspection: true }),
  );
  const { identityProvider } = users;
  identityProvider.changeTokens = (response) => {
    accessToken = String(response['access_token']);
    return response;
  };
  const identityProviders = [
    {
      ...{ name: 'test', issuerUrl: identityProvider.issuer, clientId: identityProvider.clientId },
      clientSecretRef: { name: 'identity-provider', key: 'client-secret' },
      scopes: ['openid', 'email', 'profile', 'groups'],
    },
    { name: 'machines', issuerUrl: machines.issuer, audiences: ['gatehouse'] },
  ];
  const [jwt, mcp, access] = [
    users.originOf('jwt'),
    users.originOf('mcp'),
    users.originOf('access'),
  ];
  const [people, open] = [users.originOf('people'), users.originOf('open')];
  const to = upstream.origin;
  const anyone = { to, allowAnyAuthenticatedUser: true };
  const serve: BearerWorld['serve'] = (settings = {}, changes = {}) =>
    users.configure(
      {
        jwt: {
          ...{ from: jwt, to, bearerTokenFormat: 'jwt', policy: ROBOTS, allowWebsockets: true },
          ...changes['jwt'],
        },
        mcp: {
          ...{ ...anyone, from: mcp, bearerTokenFormat: 'jwt', mcp: { server: {} } },
          ...changes['mcp'],
        },
        access: {
          ...{ ...anyone, from: access, bearerTokenFormat: 'idp_access_token' },
          ...changes['access'],
        },
        people: { ...anyone, from: people, ...changes['people'] },
        open: { from: open, to, allowPublicUnauthenticatedAccess: true },
      },
      { identityProviders, ...settings },
    );
  await serve();
  return {
    ...{ users, upstream, machines, jwt, mcp, access, people, open, identityProviders, serve },
    accessToken: () => accessToken,
    async signIn(login) {
      const browser = new BrowserJar();
      const page = await browser.open(people);
      await browser.submit(page, { login });
      return browser;
    },
    setStoresAway: (isAway) => failing.setAway(isAway),
    setClock: (offsetMs) => void (offset = offsetMs),
    async reasonsDuring(run) {
      const before = users.gateway.logs().length;
      await run();
      const refusals = users.gateway.logs().slice(before);
      return refusals.map(({ reason }) => reason).filter((reason) => reason !== undefined);
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** Answers every JSON-RPC request with an empty result, and begins an MCP session if it is asked to. */
const answerMcp: Parameters<typeof startUpstream>[0] = (message, response) => {
  void buffer(message).then((body) => {
    const id = /"id":(\d+|"[^"]*")/.exec(body.toString())?.[1] ?? 'null';
    response.setHeader('content-type', 'application/json');
    if (body.includes('"initialize"')) response.setHeader('mcp-session-id', 'of-the-server');
    response.end(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
  });
};
