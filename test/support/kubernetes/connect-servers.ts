import { startIdentityProvider, type TestIdentityProvider } from '../identity-provider.ts';
import { startTlsEdge, type TlsEdge } from '../tls-edge.ts';
import {
  startUpstreamAuthorizationServer,
  type UpstreamAuthorizationServer,
} from '../upstream-oauth/authorization-server.ts';
import {
  startProtectedMcpServer,
  type ProtectedMcpServer,
} from '../upstream-oauth/protected-mcp-server.ts';
import { startUpstream, type Upstream } from '../upstream.ts';

/** Host of the MCP server. Proxies find it without a name server. */
export const MCP_SERVER_HOST = 'localhost';
/** Host of its authorization server. */
export const AUTHORIZATION_SERVER_HOST = 'login.localhost';
const PROVIDER_HOST = '127.0.0.1';

/** Servers around a gateway in a cluster, which demands https of them. */
export interface ConnectServers extends AsyncDisposable {
  readonly edge: TlsEdge;
  /** Where users sign in. */
  readonly provider: TestIdentityProvider;
  /** Where they connect. */
  readonly authorizationServer: UpstreamAuthorizationServer;
  readonly mcpServer: ProtectedMcpServer;
  /** Answers every request with the `Authorization` that it has. */
  readonly application: Upstream;
}

/** Starts the servers. */
export async function startConnectServers(): Promise<ConnectServers> {
  await using opening = new AsyncDisposableStack();
  const hosts = [PROVIDER_HOST, AUTHORIZATION_SERVER_HOST, MCP_SERVER_HOST];
  const edge = opening.use(await startTlsEdge(hosts));
  const provider = opening.use(
    await startIdentityProvider({ origin: edge.originOf(PROVIDER_HOST) }),
  );
  const authorizationServer = opening.use(
    await startUpstreamAuthorizationServer({ origin: edge.originOf(AUTHORIZATION_SERVER_HOST) }),
  );
  const mcpServer = opening.use(
    await startProtectedMcpServer({
      origin: edge.originOf(MCP_SERVER_HOST),
      authorizationServers: [authorizationServer.issuer],
      verify: authorizationServer.verify,
    }),
  );
  const application = opening.use(
    await startUpstream((message, response) => response.end(message.headers.authorization)),
  );
  edge.pass(PROVIDER_HOST, provider.port);
  edge.pass(AUTHORIZATION_SERVER_HOST, authorizationServer.port);
  edge.pass(MCP_SERVER_HOST, mcpServer.upstream.port);
  const opened = opening.move();
  return {
    ...{ edge, provider, authorizationServer, mcpServer, application },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
