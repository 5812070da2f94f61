import type { BrowserJar } from './browser-jar.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from './gateway-with-users.ts';
import { send, type Answer } from './http-client.ts';
import { toolCall } from './policy-world.ts';
import { callMcp, postForm, signInClient, type SignedInClient } from './signed-in-client.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** A gateway with routes of every kind, an upstream that is away, and a client that is signed in. */
export interface RefusingWorld extends AsyncDisposable {
  readonly users: GatewayWithUsers;
  readonly upstream: Upstream;
  readonly client: SignedInClient;
  /** Origin of the route with this name: `mcp`, `result`, `web`, `open`, `away` or `tokens`. */
  readonly origin: (route: string) => string;
}

/** A request that the gateway refuses. */
export interface RefusedRequest {
  /** What is wrong with it. */
  readonly name: string;
  /** Whether the authorization log has a decision about it. */
  readonly isDecided?: true;
  /** Whether it is how every sign-in begins, so that no line says that it was refused. */
  readonly isSilent?: true;
  /** What the gateway answers with. */
  readonly code: string;
  readonly send: (world: RefusingWorld) => Promise<Answer>;
}

const PAGE = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
const WEB_SOCKET = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** Starts the gateway with an access log. */
export async function startRefusingWorld(
  overrides: Parameters<typeof startGatewayWithUsers>[0] = {},
): Promise<RefusingWorld> {
  const users = await startGatewayWithUsers({ accessLog: true, ...overrides });
  const upstream = await startUpstream((message, response) => {
    message.resume();
    response.end('{}');
  });
  const origin = (route: string): string => users.originOf(route);
  const to = upstream.origin;
  const some = { and: [{ domain: { is: 'example.com' } }] };
  const denial = { allow: some, deny: { and: [{ mcp_tool: { is: 'delete' } }] } };
  const mcp = { server: { maxRequestBytes: 1000 } };
  await users.configure({
    mcp: { from: origin('mcp'), to, mcp, policy: denial },
    result: {
      ...{ from: origin('result'), to, policy: denial },
      mcp: { server: { toolDenial: 'result' } },
    },
    web: { from: origin('web'), to, policy: { allow: { and: [{ user: { is: 'nobody' } }] } } },
    open: { from: origin('open'), to, allowPublicUnauthenticatedAccess: true },
    away: {
      ...{ from: origin('away'), to: 'http://127.0.0.1:1' },
      allowPublicUnauthenticatedAccess: true,
    },
    tokens: {
      ...{ from: origin('tokens'), to, allowAnyAuthenticatedUser: true },
      bearerTokenFormat: 'idp_access_token',
    },
  });
  const client = await signInClient(origin('mcp'));
  return {
    ...{ users, upstream, client, origin },
    async [Symbol.asyncDispose]() {
      await users[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** Requests that are refused at each stage, in each form that an answer can have. */
export const REFUSED_REQUESTS: readonly RefusedRequest[] = [
  {
    name: 'a host that is not served',
    code: 'route-not-found',
    send: ({ origin }) => send(origin('elsewhere')),
  },
  {
    name: 'a host that is not served, in a browser',
    code: '421',
    send: ({ origin }) => send(origin('elsewhere'), { headers: PAGE }),
  },
  {
    name: 'a path that can be read in two ways',
    code: 'dot-segment',
    send: ({ origin }) => send(`${origin('open')}/a/../b`),
  },
  {
    name: 'an expectation that the gateway does not know',
    code: 'unknown-expectation',
    send: ({ origin }) => send(origin('open'), { headers: { expect: 'a-miracle' } }),
  },
  {
    name: 'a method that an endpoint does not take',
    code: 'method-not-allowed',
    send: ({ origin }) => send(`${origin('mcp')}/.well-known/oauth-authorization-server`, DELETE),
  },
  {
    name: 'a web route without a session',
    code: 'user-unauthenticated',
    isSilent: true,
    send: ({ origin }) => send(origin('web')),
  },
  {
    name: 'a web route that the policy denies',
    code: 'user-unauthorized',
    isDecided: true,
    send: (world) => sendAsUser(world, {}),
  },
  {
    name: 'a web route that the policy denies, in a browser',
    code: '403',
    isDecided: true,
    send: (world) => sendAsUser(world, PAGE),
  },
  {
    name: 'an MCP route without a token',
    code: 'no-token',
    isSilent: true,
    send: ({ origin }) => send(origin('mcp'), { method: 'POST' }),
  },
  {
    name: 'an MCP route with a token that is none',
    code: 'invalid-token',
    send: ({ origin }) => callMcp(origin('mcp'), 'gte_wrong', toolCall('read')),
  },
  {
    name: 'a route of a provider with a token that is none',
    code: 'invalid-token',
    send: ({ origin }) => send(origin('tokens'), { headers: { authorization: 'Bearer wrong' } }),
  },
  {
    name: 'a page that may not call an MCP route',
    code: 'origin-not-allowed',
    send: ({ origin, client }) =>
      callMcp(origin('mcp'), client.accessToken, toolCall('read'), { origin: 'https://a.example' }),
  },
  {
    name: 'a message that is not JSON',
    code: 'invalid-json-rpc',
    send: ({ origin, client }) => callMcp(origin('mcp'), client.accessToken, '{'),
  },
  {
    name: 'a message that is too long',
    code: 'body-too-large',
    send: ({ origin, client }) =>
      callMcp(origin('mcp'), client.accessToken, toolCall('x'.repeat(1000))),
  },
  {
    name: 'a tool that the policy denies',
    code: 'mcp-tool-unauthorized',
    isDecided: true,
    send: ({ origin, client }) => callMcp(origin('mcp'), client.accessToken, toolCall('delete')),
  },
  {
    name: 'a tool that the policy denies, as a result',
    code: 'mcp-tool-unauthorized',
    isDecided: true,
    send: async ({ origin, client: { browser } }) => {
      const { accessToken } = await signInClient(origin('result'), { browser });
      return await callMcp(origin('result'), accessToken, toolCall('delete'));
    },
  },
  {
    name: 'an upstream that is away',
    code: 'upstream-unreachable',
    isDecided: true,
    send: ({ origin }) => send(origin('away')),
  },
  {
    name: 'a WebSocket that the route does not allow',
    code: 'no-websockets',
    send: ({ origin }) => send(origin('open'), { headers: WEB_SOCKET }),
  },
  {
    name: 'a code that is unknown',
    code: 'invalid_grant',
    send: ({ client }) =>
      postForm(client.server.tokenEndpoint, {
        ...{ grant_type: 'refresh_token', client_id: client.clientId, refresh_token: 'gtr_no' },
      }),
  },
  {
    name: 'a client that is unknown',
    code: 'invalid_client',
    send: ({ client }) =>
      postForm(client.server.revocationEndpoint, { client_id: 'unknown', token: 'gtr_no' }),
  },
  {
    name: 'a registration without a redirect URI',
    code: 'invalid_redirect_uri',
    send: ({ client }) =>
      send(client.server.registrationEndpoint, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' },
      }),
  },
  {
    name: 'an authorization request of an unknown client',
    code: '400',
    send: ({ client }) =>
      send(`${client.server.authorizationEndpoint}?client_id=unknown`, { headers: PAGE }),
  },
  {
    name: 'a sign-in that nobody began',
    code: '400',
    send: ({ origin }) => send(`${origin('web')}/.gateway/callback?state=none`, { headers: PAGE }),
  },
];

const DELETE = { method: 'DELETE' };

async function sendAsUser(
  { origin, client: { browser } }: RefusingWorld,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const user: BrowserJar = browser.clone();
  await user.open(origin('web'));
  const cookie = user.cookies
    .filter(({ host }) => host === new URL(origin('web')).hostname)
    .map(({ name, value }) => `${name}=${value}`)
    .join('; ');
  return await send(origin('web'), { headers: { ...headers, cookie } });
}

/** Ids that an answer carries: in its header field, and in its page, JSON or JSON-RPC message. */
export function requestIdsOf({ headers, body }: Answer): { header: unknown; body: unknown } {
  return { header: headers['x-request-id'], body: idIn(headers['content-type'], body) };
}

/** What an answer says is wrong; for a page, its status. */
export function codeOf({ status, headers, body }: Answer): string {
  if (headers['content-type'] !== 'application/json') return String(status);
  const { error, result } = JSON.parse(body) as JsonAnswer;
  const code = typeof error === 'string' ? error : error?.data.reason;
  return code ?? result?._meta['dev.gatehouse/reason'] ?? 'none';
}

/** The forms of an answer in JSON: OAuth and others, a JSON-RPC error, and the result of a tool. */
interface JsonAnswer {
  readonly error?: string | { readonly data: { readonly reason: string; request_id: string } };
  readonly request_id?: string;
  readonly result?: { readonly _meta: Readonly<Record<string, string>> };
}

function idIn(type: string | undefined, body: string): string | undefined {
  if (type !== 'application/json') return /Request ID: <code>([\w-]+)<\/code>/.exec(body)?.[1];
  const { error, request_id: id, result } = JSON.parse(body) as JsonAnswer;
  if (typeof error === 'object') return error.data.request_id;
  return id ?? result?._meta['dev.gatehouse/request_id'];
}
