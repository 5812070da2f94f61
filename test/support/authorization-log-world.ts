import { beforeEach, expect } from '@jest/globals';

import type { GatewaySettings, Route } from '../../crds/types.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from './gateway-with-users.ts';
import type { Answer } from './http-client.ts';
import { openForAll } from './open-for-all.ts';
import { callMcp, signInClient, type SignedInClient } from './signed-in-client.ts';
import { startUpstream, type Upstream } from './upstream.ts';

type Policy = NonNullable<Route['spec']['policy']>;
type Fields = NonNullable<NonNullable<GatewaySettings['spec']>['authorizeLogFields']>;

/** A record of the authorization log. */
export type LogRecord = Readonly<Record<string, unknown>>;

/** Fields that only requests of MCP have. */
export const MCP_FIELDS = ['mcp-method', 'mcp-tool', 'mcp-tool-parameters'] as const;

/** Fields of the decision and its reasons. */
export const DECISION_FIELDS = [
  ...(['allow', 'allow-why-true', 'allow-why-false'] as const),
  ...(['deny', 'deny-why-true', 'deny-why-false'] as const),
];

/** Fields that every request has. */
export const OTHER_FIELDS = ['request-id', 'user', 'email', ...DECISION_FIELDS] as const;

/** All fields that settings can select. */
export const EVERY_FIELD: Fields = [...MCP_FIELDS, ...OTHER_FIELDS];

/** Fields that no setting removes. */
export const FRAME = ['level', 'service', 'time', 'message'];

/** A policy that denies tools by their names. */
export const POLICY: Policy = {
  allow: { and: [{ domain: { is: 'example.com' } }] },
  deny: { and: [{ mcp_tool: { starts_with: 'delete_' } }] },
};

/** A policy of a web route: only MCP routes have tools. */
const WEB_POLICY: Policy = { allow: { and: [{ domain: { is: 'example.com' } }] } };

/** A message that calls no tool. */
export const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

/** Three routes, a client that is signed in, and the authorization log. */
export interface AuthorizationLogWorld extends AsyncDisposable {
  readonly users: GatewayWithUsers;
  readonly upstream: Upstream;
  /** An MCP route with the policy of `serve`. */
  readonly mcp: string;
  /** A web route for the same users. */
  readonly web: string;
  /** A public route. */
  readonly open: string;
  readonly client: SignedInClient;
  /** Serves the routes, and logs these fields or the default ones. */
  serve(policy: Policy, fields?: Fields): Promise<void>;
  /** Sends a message as the client. */
  call(message: string | object): Promise<Answer>;
  /** Forgets the records so far. */
  forgetRecords(): void;
  /** The records since they were forgotten. */
  records(): readonly LogRecord[];
  /** The one record since they were forgotten. */
  record(): LogRecord;
}

/** Opens a world for the tests around; each test begins without records. */
export function openAuthorizationLog(): () => AuthorizationLogWorld {
  const world = openForAll(startAuthorizationLogWorld);
  beforeEach(() => world().forgetRecords());
  return world;
}

async function startAuthorizationLogWorld(): Promise<AuthorizationLogWorld> {
  const upstream = await startUpstream((message, response) => {
    message.resume();
    response.end('{}');
  });
  const users = await startGatewayWithUsers();
  const [mcp, web, open] = [users.originOf('mcp'), users.originOf('web'), users.originOf('open')];
  const serve: AuthorizationLogWorld['serve'] = (policy, authorizeLogFields) => {
    const to = upstream.origin;
    const routes = {
      mcp: { from: mcp, to, mcp: { server: { maxRequestBytes: 1000 } }, policy },
      web: { from: web, to, policy: WEB_POLICY },
      open: { from: open, to, allowPublicUnauthenticatedAccess: true },
    };
    return users.configure(routes, authorizeLogFields === undefined ? {} : { authorizeLogFields });
  };
  await serve(POLICY, EVERY_FIELD);
  const client = await signInClient(mcp);
  let forgotten = 0;
  const records = (): readonly LogRecord[] => users.gateway.decisions().slice(forgotten);
  return {
    ...{ users, upstream, mcp, web, open, client, serve, records },
    call: (message) => callMcp(mcp, client.accessToken, message),
    forgetRecords: () => void (forgotten = users.gateway.decisions().length),
    record() {
      expect(records()).toHaveLength(1);
      return records()[0] ?? {};
    },
    async [Symbol.asyncDispose]() {
      await users[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** A call of a tool. */
export function toolCall(name: string, parameters: object = {}): object {
  const params = { name, arguments: parameters };
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
}

/** The fields of a record that settings can select. */
export function withoutFrame(fields: LogRecord): LogRecord {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !FRAME.includes(name)));
}
