import type { GatewaySettings } from '../../crds/types.ts';
import { ConnectLinks } from '../../proxy/connect/connect-links.ts';
import { Sealer } from '../../proxy/crypto/sealer.ts';
import type { UserReference } from '../../proxy/records/user-key.ts';
import type { ProcessTracing } from '../../shared/telemetry/tracing/settings/process-tracing.ts';
import { anOrigin } from './an-origin.ts';
import type { BrowserJar, BrowserPage } from './browser-jar.ts';
import {
  startGatewayWithUsers,
  type GatewayWithUsers,
  type RouteSpec,
} from './gateway-with-users.ts';
import { fieldsOfPatientUser } from './patient-user.ts';
import { startUpstream, type Upstream } from './upstream.ts';
import {
  startUpstreamAuthorizationServer,
  type UpstreamAuthorizationServer,
} from './upstream-oauth/authorization-server.ts';
import {
  startProtectedMcpServer,
  type ProtectedMcpServer,
} from './upstream-oauth/protected-mcp-server.ts';

type Settings = NonNullable<GatewaySettings['spec']>;

/** Specs of Routes that a test may change. */
type RoutesByName = Record<string, RouteSpec>;

/** An MCP server that users connect, with its own authorization server, and its route. */
export interface ConnectableServer {
  /** Name of the Route. */
  readonly name: string;
  readonly authorizationServer: UpstreamAuthorizationServer;
  readonly mcpServer: ProtectedMcpServer;
  /** Origin of the route host, and the URL of the MCP server. */
  readonly url: string;
}

/** Two MCP servers that users connect, and an application that sends them there. */
export interface ConnectWorld extends AsyncDisposable {
  readonly users: GatewayWithUsers;
  readonly files: ConnectableServer;
  readonly mail: ConnectableServer;
  /** Origin of the application, on an MCP client route. */
  readonly app: string;
  /** The backend of the application. */
  readonly backend: Upstream;
  /** Returns whether the gateway holds tokens of a user for a server. */
  isConnected(login: string, server: ConnectableServer): Promise<boolean>;
  /** Makes the URL of a link of the gateway's own. */
  linkFor(login: string, server: ConnectableServer): string;
  /** Moves the clock of the gateway. */
  readonly clock: { offset: number };
  /** URL at which an application has its users connect a server. */
  connectUrl(server: ConnectableServer, redirectUrl?: string): string;
  /** The last record of the audit log about a connection. */
  lastAuditEvent(): Readonly<Record<string, unknown>> | undefined;
  /** Serves changed routes from now on. */
  reconfigure(change: (routes: RoutesByName) => void): Promise<void>;
}

export interface ConnectWorldOptions {
  readonly settings?: Settings;
  /** Whether users sign in and approve clients at a host of its own. */
  readonly hasAuthenticateHost?: boolean;
  readonly tracing?: ProcessTracing;
}

/** Starts the gateway, the servers and the application. */
export async function startConnectWorld({
  settings = {},
  hasAuthenticateHost = false,
  ...options
}: ConnectWorldOptions = {}): Promise<ConnectWorld> {
  await using opening = new AsyncDisposableStack();
  const clock = { offset: 0 };
  const now = (): number => Date.now() + clock.offset;
  const users = opening.use(await startGatewayWithUsers({ now, ...options }));
  const backend = opening.use(
    await startUpstream((_message, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<title>Application</title><h1>The application</h1>');
    }),
  );
  const start = async (name: string): Promise<ConnectableServer> => {
    const authorizationServer = opening.use(await startUpstreamAuthorizationServer());
    const mcpServer = opening.use(
      await startProtectedMcpServer({
        authorizationServers: [authorizationServer.issuer],
        verify: authorizationServer.verify,
      }),
    );
    return { name, authorizationServer, mcpServer, url: users.originOf(name) };
  };
  const [files, mail] = [await start('files'), await start('mail')];
  const app = users.originOf('app');
  const routes: RoutesByName = {
    app: { from: app, to: backend.origin, mcp: { client: {} }, allowAnyAuthenticatedUser: true },
    web: { from: users.originOf('web'), to: backend.origin, allowAnyAuthenticatedUser: true },
    files: routeTo(files),
    mail: routeTo(mail),
  };
  const links = new ConnectLinks({ sealer: new Sealer(users.gateway.sealingKeys), now });
  const userOf = (subject: string): UserReference => ({
    ...{ provider: 'test', issuer: users.identityProvider.issuer, subject },
  });
  const serve = (): Promise<void> =>
    users.configure(routes, {
      mcpAllowedAsMetadataDomains: ['localhost'],
      ...(hasAuthenticateHost && { authenticateUrl: users.originOf('auth') }),
      ...settings,
    });
  await serve();
  const opened = opening.move();
  return {
    ...{ users, files, mail, app, backend, clock },
    connectUrl: ({ url }, redirectUrl = `${app}/back`) =>
      `${url}/.gateway/mcp/connect?${new URLSearchParams({ redirect_url: redirectUrl }).toString()}`,
    isConnected: async (login, { name }) => {
      const held = await users.gateway.stores.connectionsOfUsers.list(userOf(login));
      return held.some(({ routeName }) => routeName === `default/${name}`);
    },
    linkFor: (login, { name, url }) =>
      links.urlFor(
        { user: userOf(login), routeId: `default/${name}`, returnTo: { kind: 'page' } },
        anOrigin(url),
      ),
    lastAuditEvent: () =>
      users.gateway.logs().findLast(({ event }) => String(event).startsWith('connection-')),
    reconfigure: async (change) => {
      change(routes);
      await serve();
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

function routeTo({ url, mcpServer }: ConnectableServer): RouteSpec {
  return {
    ...{ from: url, to: mcpServer.origin, allowAnyAuthenticatedUser: true },
    mcp: { server: { path: '/mcp', upstreamOauth2: {} } },
  };
}

/** Returns the spec of a Route that there is. */
export function routeOf(routes: Readonly<RoutesByName>, name: string): RouteSpec {
  const route = routes[name];
  if (route === undefined) throw new Error(`no Route ${name}`);
  return route;
}

/** How a user answers the pages on the way: as whom they sign in at the gateway and at the upstream. */
export interface Answers {
  readonly login?: string;
  /** Empty: the user cancels. */
  readonly upstreamLogin?: string;
  /** Stops before this address is opened. */
  readonly stopAt?: (url: string) => boolean;
}

/** Opens an address, signs in where the way leads through a sign-in page, and approves clients. */
export async function walk(
  browser: BrowserJar,
  url: string,
  { login = 'alice', upstreamLogin = `${login}@upstream`, stopAt }: Answers = {},
): Promise<BrowserPage> {
  const options = stopAt === undefined ? {} : { stopAt };
  let page = await browser.open(url, options);
  for (let forms = 0; forms < MAX_FORMS; forms += 1) {
    const names = Object.keys(page.forms[0]?.fields ?? {});
    if (names.includes('login')) {
      const isUpstream = new URL(page.url).pathname.startsWith('/sign-in/');
      page = await browser.submit(page, { login: isUpstream ? upstreamLogin : login }, options);
    } else if (names.includes('decision')) {
      page = await browser.submit(page, fieldsOfPatientUser(page, browser), options);
    } else return page;
  }
  return page;
}

const MAX_FORMS = 4;

/** Walks until the response of an upstream would reach the gateway, and returns its address. */
export async function walkUntilCallback(
  browser: BrowserJar,
  url: string,
  answers: Answers = {},
): Promise<string> {
  const stopAt = (next: string): boolean => next.includes('/.gateway/mcp/client/oauth/callback?');
  const page = await walk(browser, url, { ...answers, stopAt });
  const { location = '' } = page.headers;
  if (!stopAt(location)) throw new Error(`not sent back: ${page.url} ${page.body}`);
  return location;
}
