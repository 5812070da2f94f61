import { BrowserJar } from '../browser-jar.ts';
import { ClientWithUser } from '../client-with-user.ts';
import {
  startGatewayWithUsers,
  type GatewayWithUsers,
  type RouteSpec,
} from '../gateway-with-users.ts';
import { startUpstream, type Upstream } from '../upstream.ts';
import { walkThroughForms } from '../walk-through-forms.ts';
import {
  startUpstreamAuthorizationServer,
  type UpstreamAuthorizationServer,
} from './authorization-server.ts';
import {
  GIVEN_CLIENT,
  type AuthorizationServerFeatures,
} from './authorization-server-configuration.ts';
import {
  MCP_PATH,
  startProtectedMcpServer,
  type ProtectedMcpServer,
  type ProtectedMcpServerOptions,
} from './protected-mcp-server.ts';

type McpServerSpec = NonNullable<NonNullable<RouteSpec['mcp']>['server']>;
type UpstreamOauth2 = NonNullable<McpServerSpec['upstreamOauth2']>;
type Settings = NonNullable<Parameters<GatewayWithUsers['configure']>[1]>;

interface UpstreamOAuthWorldOptions {
  readonly authorizationServer?: AuthorizationServerFeatures;
  readonly server?: Partial<ProtectedMcpServerOptions>;
  /** Defaults to discovery of everything. */
  readonly upstreamOauth2?: UpstreamOauth2;
}

/**
 * A gateway with an MCP route whose server has an authorization server of its own, a route with an
 * application that calls MCP servers, and the users alice, bob and carol. Their login names at the
 * authorization server begin with `up-`.
 */
export interface UpstreamOAuthWorld extends AsyncDisposable {
  readonly users: GatewayWithUsers;
  readonly authorizationServer: UpstreamAuthorizationServer;
  readonly server: ProtectedMcpServer;
  /** The MCP URL. */
  readonly url: string;
  /** Origin of the route of the application. */
  readonly app: string;
  readonly application: Upstream;
  /** Serves the routes from now on, with these changes, and with this fallback issuer. */
  serve(
    upstreamOauth2: UpstreamOauth2 | undefined,
    settings?: Settings,
    authorizationServerUrl?: string,
  ): Promise<void>;
  /** An official client of a user, who signs in and connects when it asks. */
  client(login?: string, options?: ConstructorParameters<typeof ClientWithUser>[1]): ClientWithUser;
  /** Opens a URL in a browser of a user, who does what they are asked, up to the last page. */
  visit: (url: string, login?: string, browser?: BrowserJar) => ReturnType<typeof walkThroughForms>;
  /** The URL at which a browser connects the user, and goes to an address of the application. */
  connectUrl(path?: string): string;
  /** Moves the clock of the gateway and its stores, but not those of the providers. */
  advance(milliseconds: number): void;
}

/** Settings that refer to the client that is registered by hand. */
export const GIVEN_CREDENTIALS: UpstreamOauth2 = {
  clientId: GIVEN_CLIENT.id,
  clientSecretRef: { name: 'upstream', key: 'client-secret' },
};

/** Starts a world. */
export async function startUpstreamOAuthWorld(
  options: UpstreamOAuthWorldOptions = {},
): Promise<UpstreamOAuthWorld> {
  let offset = 0;
  await using opening = new AsyncDisposableStack();
  const authorizationServer = opening.use(
    await startUpstreamAuthorizationServer(options.authorizationServer),
  );
  const { issuer, verify, redirectUris } = authorizationServer;
  const server = opening.use(
    await startProtectedMcpServer({ authorizationServers: [issuer], verify, ...options.server }),
  );
  const application = opening.use(
    await startUpstream((message, response) => {
      message.resume();
      response.end('the application');
    }),
  );
  const users = opening.use(await startGatewayWithUsers({ now: () => Date.now() + offset }));
  const [url, app] = [users.originOf('mcp'), users.originOf('app')];
  redirectUris.add(`${url}/.gateway/mcp/client/oauth/callback`);

  const serve: UpstreamOAuthWorld['serve'] = (
    upstreamOauth2,
    settings = {},
    authorizationServerUrl,
  ) => {
    const mcpServer = {
      path: MCP_PATH,
      ...(upstreamOauth2 && { upstreamOauth2 }),
      ...(authorizationServerUrl !== undefined && { authorizationServerUrl }),
    };
    const access = { allowAnyAuthenticatedUser: true };
    return users.configure(
      {
        mcp: { ...access, from: url, to: server.origin, mcp: { server: mcpServer } },
        app: { ...access, from: app, to: application.origin, mcp: { client: {} } },
      },
      { mcpAllowedAsMetadataDomains: ['localhost'], ...settings },
      [{ name: 'upstream', key: 'client-secret', value: GIVEN_CLIENT.secret }],
    );
  };
  await serve(options.upstreamOauth2 ?? {});

  // A login name says whose account it is, so that a mix-up shows in `whoami`.
  const loginAt =
    (login: string) =>
    ({ url: page }: { readonly url: string }): string =>
      page.startsWith(users.identityProvider.issuer) ? login : `up-${login}`;
  const opened = opening.move();
  return {
    ...{ users, authorizationServer, server, url, app, application, serve },
    client: (login = 'alice', more = {}) =>
      opened.use(new ClientWithUser(url, { loginAt: loginAt(login), ...more })),
    visit: (page, login = 'alice', browser = new BrowserJar()) =>
      walkThroughForms(browser, page, { loginAt: loginAt(login) }),
    connectUrl: (path = '/connected') =>
      `${url}/.gateway/mcp/connect?redirect_url=${encodeURIComponent(app + path)}`,
    advance: (milliseconds) => void (offset += milliseconds),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
