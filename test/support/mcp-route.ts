import type { RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';

import type { Route } from '../../crds/types.ts';
import { startGatewayWithUsers } from './gateway-with-users.ts';
import { send, type Answer, type RequestOptions } from './http-client.ts';
import { openMcpSession } from './open-mcp-session.ts';
import { callMcp, mcpHeaders, signInClient } from './signed-in-client.ts';
import { startUpstream, type Upstream } from './upstream.ts';

type McpServer = NonNullable<Route['spec']['mcp']>['server'];
type Headers = NonNullable<RequestOptions['headers']>;

/** A whole gateway with one MCP route, a client that is signed in, and a scriptable server. */
export interface McpRoute extends AsyncDisposable {
  readonly url: string;
  /** Origin of the gateway. */
  readonly port: number;
  readonly upstream: Upstream;
  /** Bodies of the requests that reached the upstream complete. */
  readonly bodies: readonly Buffer[];
  /** Header fields of the client: its token, the type of its body, and accepted types. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sets the handler of complete requests at the upstream, from now on. */
  answerWith(listener: RequestListener): void;
  /** Posts a body unchanged. */
  post(body: string | Buffer, headers?: Headers): Promise<Answer>;
  /** Sends a request without a body to the endpoint, or to a path below it. */
  request(method: string, headers?: Headers, path?: string): Promise<Answer>;
  /** Counts the requests that reach the upstream while a function runs. */
  arrivalsDuring(run: () => Promise<void>): Promise<number>;
}

/** Answers every request with an empty result. */
export const emptyResult: RequestListener = (_message, response) => {
  response.setHeader('content-type', 'application/json');
  response.end('{"jsonrpc":"2.0","id":1,"result":{}}');
};

/** Answers every request with an empty result, and with the id of an MCP session. */
export const sessionResult: RequestListener = (message, response) => {
  response.setHeader('Mcp-Session-Id', 'session-1');
  emptyResult(message, response);
};

/** Starts a route that any signed-in user may call. */
export async function startMcpRoute(server: McpServer = {}): Promise<McpRoute> {
  const bodies: Buffer[] = [];
  let answer = sessionResult;
  const upstream = await startUpstream((message, response) => {
    // A client that leaves before its request is complete gets no response.
    buffer(message).then(
      (body) => {
        bodies.push(body);
        answer(message, response);
      },
      () => undefined,
    );
  });
  const world = await startGatewayWithUsers();
  const url = world.originOf('mcp');
  await world.configure({
    mcp: { from: url, to: upstream.origin, mcp: { server }, allowAnyAuthenticatedUser: true },
  });
  const { accessToken } = await signInClient(url);
  const headers = mcpHeaders(accessToken);
  const session = await openMcpSession(url, accessToken);
  bodies.length = 0;
  answer = emptyResult;
  return {
    url,
    port: world.gateway.port,
    upstream,
    bodies,
    headers,
    answerWith: (listener) => (answer = listener),
    post: (body, more) => callMcp(url, accessToken, body, more),
    request: (method, more, path = '') =>
      send(url + path, {
        method,
        // A DELETE ends a session.
        headers: { ...headers, ...(method === 'DELETE' && session), ...more },
      }),
    async arrivalsDuring(run) {
      const before = upstream.requests.length;
      await run();
      return upstream.requests.length - before;
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}
