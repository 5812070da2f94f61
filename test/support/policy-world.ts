import { expect } from '@jest/globals';

import type { Route } from '../../crds/types.ts';
import { expectJsonRpcError } from './expect-json-rpc-error.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from './gateway-with-users.ts';
import { membersOf, send, type Answer } from './http-client.ts';
import { sessionResult } from './mcp-route.ts';
import { openMcpSession } from './open-mcp-session.ts';
import { callMcp, mcpHeaders, signInClient } from './signed-in-client.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** The access that a route grants. */
export type Access = Pick<Route['spec'], 'policy' | 'allowAnyAuthenticatedUser'>;

/** Criteria that all users meet. */
export const EXAMPLE_USERS = { and: [{ domain: { is: 'example.com' } }] };

/** Outcome of a message that reached the upstream. */
export const OK = { status: 200, isDenied: false };

/** A message that calls no tool. */
export const LIST = { jsonrpc: '2.0', id: 'list-1', method: 'tools/list' };

/** An MCP route, and tokens of two of its users: alice in engineering, carol in admins. */
export interface PolicyWorld extends AsyncDisposable {
  readonly gateway: GatewayWithUsers['gateway'];
  readonly upstream: Upstream;
  /** The MCP URL. */
  readonly mcp: string;
  /** Serves the route with this access from now on. */
  serve(access: Access): Promise<void>;
  /** Header fields of an MCP client of a user. */
  headersOf(login: string): Readonly<Record<string, string>>;
  /** Sends a message as a user. */
  ask(message: object, login?: string): Promise<Answer>;
  /** Sends a request without a message as alice. */
  request(method: string): Promise<Answer>;
  /** Sends a message as a user; fails unless it reached the upstream exactly if it was permitted. */
  outcomeOf(message: object, login?: string): Promise<typeof OK>;
}

/** Starts the gateway, and signs a client of both users in. */
export async function startPolicyWorld(): Promise<PolicyWorld> {
  const upstream = await startUpstream((message, response) => {
    message.resume();
    if (message.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    } else sessionResult(message, response);
  });
  const world = await startGatewayWithUsers();
  const mcp = world.originOf('mcp');
  const serve = (access: Access): Promise<void> =>
    world.configure({ mcp: { from: mcp, to: upstream.origin, mcp: { server: {} }, ...access } });
  await serve({ policy: { allow: EXAMPLE_USERS } });
  const tokens = new Map<string, string>();
  for (const login of ['alice', 'carol']) {
    tokens.set(login, (await signInClient(mcp, { login })).accessToken);
  }
  const session = await openMcpSession(mcp, tokens.get('alice') ?? '');
  const headersOf = (login: string): ReturnType<typeof mcpHeaders> =>
    mcpHeaders(tokens.get(login) ?? '');
  const ask = (message: object, login = 'alice'): Promise<Answer> =>
    callMcp(mcp, tokens.get(login) ?? '', message);
  return {
    ...{ gateway: world.gateway, upstream, mcp, serve, headersOf, ask },
    request: (method) => send(mcp, { method, headers: { ...headersOf('alice'), ...session } }),
    async outcomeOf(message, login) {
      const before = upstream.requests.length;
      const answer = await ask(message, login);
      const isDenied = membersOf(answer)['error'] !== undefined;
      expect(upstream.requests).toHaveLength(before + (isDenied ? 0 : 1));
      return { status: answer.status, isDenied };
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** A call of a tool as a notification, which has no response. */
export function toolNotification(name: string): object {
  return { jsonrpc: '2.0', method: 'tools/call', params: { name, arguments: {} } };
}

/** A call of a tool. */
export function toolCall(name: string, id: number | string = 7): object {
  return { ...toolNotification(name), id };
}

/** Fails unless a call was denied for the model to read: with status 200, under the call's id. */
export function expectDeniedCall(answer: Answer, id: number | string): void {
  const reason = 'mcp-tool-unauthorized';
  expectJsonRpcError(answer, { status: 200, code: 40301, id, reason });
}

/** Fails unless a request was denied for the client, without a reason for it to sign in again. */
export function expectForbidden(answer: Answer, id: number | string | null, reason: string): void {
  expectJsonRpcError(answer, { status: 403, code: 40301, id, reason });
  expect(answer.headers).not.toHaveProperty('www-authenticate');
  expect(answer.body).not.toContain('insufficient_scope');
}
