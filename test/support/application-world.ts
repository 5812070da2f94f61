import { BrowserJar } from './browser-jar.ts';
import {
  startGatewayWithUsers,
  type GatewayWithUsers,
  type RouteSpec,
} from './gateway-with-users.ts';
import { membersOf, send, type Answer, type RequestOptions } from './http-client.ts';
import type { IdentityProviderOptions } from './identity-provider.ts';
import { emptyResult } from './mcp-route.ts';
import { callMcp } from './signed-in-client.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

type Routes = Readonly<Record<string, RouteSpec>>;

/** An application behind an `mcp.client` route, and MCP servers behind other routes. */
export interface ApplicationWorld extends AsyncDisposable {
  readonly users: GatewayWithUsers;
  /** Origin of the application. */
  readonly app: string;
  /** The backend of the application. */
  readonly backend: Upstream;
  /** The server behind all MCP routes. */
  readonly mcpServer: Upstream;
  /** Returns the route of an MCP server for every user, with changes. */
  readonly server: (name: string, changes?: Partial<RouteSpec>) => RouteSpec;
  /** Serves the application and these routes from now on. */
  readonly serve: (
    routes: Routes,
    settings?: Parameters<GatewayWithUsers['configure']>[1],
  ) => Promise<void>;
  /** Opens a page of the application, signs in if asked to, and returns what the backend got as `Authorization`. */
  readonly visit: (browser?: BrowserJar, login?: string) => Promise<string | undefined>;
  /** Opens the application, and returns the external token that its backend got. */
  readonly tokenOf: (browser?: BrowserJar, login?: string) => Promise<string>;
  /** Calls an endpoint of the application's host as its backend does. */
  readonly ask: (
    path: string,
    token: string | undefined,
    options?: RequestOptions,
  ) => Promise<Answer>;
  /** Returns the list of servers for a token. */
  readonly servers: (token: string) => Promise<unknown>;
  /** Returns the status of a call of an MCP server with a token. */
  readonly statusAt: (url: string, token: string) => Promise<number>;
  /** Moves the clock of the gateway and its stores, but not the identity provider's. */
  readonly advance: (milliseconds: number) => void;
}

/** Starts both, with one MCP server `files` for every user. */
export async function startApplicationWorld(
  options: IdentityProviderOptions = {},
): Promise<ApplicationWorld> {
  let offset = 0;
  const backend = await startUpstream((message, response) => {
    message.resume();
    response.end('the page');
  });
  const mcpServer = await startUpstream((message, response) => {
    message.resume();
    emptyResult(message, response);
  });
  const users = await startGatewayWithUsers({ now: () => Date.now() + offset }, options);
  const app = users.originOf('app');
  const server: ApplicationWorld['server'] = (name, changes = {}) => ({
    from: users.originOf(name),
    to: mcpServer.origin,
    mcp: { server: {} },
    ...(changes.policy === undefined && { allowAnyAuthenticatedUser: true }),
    ...changes,
  });
  const serve: ApplicationWorld['serve'] = (routes, settings) =>
    users.configure(
      {
        app: {
          from: app,
          to: backend.origin,
          mcp: { client: {} },
          allowAnyAuthenticatedUser: true,
        },
        ...routes,
      },
      settings,
    );
  const visit: ApplicationWorld['visit'] = async (browser = new BrowserJar(), login = 'alice') => {
    const index = backend.requests.length;
    const page = await browser.open(`${app}/page`);
    if (page.url.startsWith(users.identityProvider.issuer)) await browser.submit(page, { login });
    return (await backend.request(index)).message.headers.authorization;
  };
  const ask: ApplicationWorld['ask'] = (path, token, { headers, ...rest } = {}) =>
    send(app + path, {
      ...rest,
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
    });
  await serve({ files: server('files') });
  return {
    ...{ users, app, backend, mcpServer, server, serve, visit, ask },
    async tokenOf(browser, login) {
      const [, token] = /^Bearer (gte_\S+)$/.exec((await visit(browser, login)) ?? '') ?? [];
      if (token === undefined) throw new Error('the backend got no token');
      return token;
    },
    async servers(token) {
      return membersOf(await ask('/.gateway/mcp/routes', token))['servers'];
    },
    statusAt: async (url, token) => (await callMcp(url, token, PING)).status,
    advance: (milliseconds) => void (offset += milliseconds),
    async [Symbol.asyncDispose]() {
      await users[Symbol.asyncDispose]();
      await backend[Symbol.asyncDispose]();
      await mcpServer[Symbol.asyncDispose]();
    },
  };
}
