import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

import type { Caller } from '../../proxy/authentication/caller.ts';
import {
  DEFAULT_AUTHORIZE_LOG_FIELDS,
  type AuthorizeLogField,
} from '../../shared/snapshot/log-fields.ts';
import type { GatewayRequest } from '../../proxy/http/gateway-request.ts';
import type { JsonRpcMessage } from '../../proxy/mcp/json-rpc.ts';
import type { Identity } from '../../proxy/records/session.ts';
import type { DecidedRequest } from '../../proxy/telemetry/authorization-log.ts';

/** The fields of the specification's record. */
export const SPECIFIED_LOG_FIELDS: readonly AuthorizeLogField[] = [
  ...(['mcp-method', 'mcp-tool', 'mcp-tool-parameters'] as const),
  ...DEFAULT_AUTHORIZE_LOG_FIELDS,
];

/** What a test says of a request that was checked. */
interface CheckedFacts {
  readonly identity?: Identity | undefined;
  readonly message?: JsonRpcMessage | undefined;
  readonly request?: Partial<GatewayRequest>;
  /** Names and values of the header fields. */
  readonly rawHeaders?: readonly string[];
}

/** A request with the id `r-1` that was authorized or refused. */
export function aDecidedRequest(facts: CheckedFacts): DecidedRequest {
  const message = new IncomingMessage(new Socket());
  message.rawHeaders.push(...(facts.rawHeaders ?? []));
  const request = {
    ...{ id: 'r-1', method: 'GET', path: '/', query: '', authority: 'a.example' },
    ...{ remoteAddress: '192.0.2.7', message },
    ...facts.request,
  };
  return {
    request,
    route: { compiled: { name: 'default/a' } },
    caller: callerOf(facts.identity),
    body: facts.message && { message: facts.message },
  };
}

function callerOf(identity: Identity | undefined): Caller {
  if (identity === undefined) return { kind: 'anonymous' };
  const session = { id: 'the-session', identity, expiresAt: Infinity };
  return { kind: 'user', session, via: 'bearer-token' };
}
