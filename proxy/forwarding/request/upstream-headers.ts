import { foldFieldName } from '../../../shared/snapshot/header-fields.ts';
import type { CompiledRoute } from '../../../shared/snapshot/snapshot.ts';
import {
  formatTraceparent,
  type TraceContext,
} from '../../../shared/telemetry/tracing/trace-context.ts';
import { holdsGatewayToken } from '../../crypto/gateway-token.ts';
import { BadRequestError } from '../../errors/request-errors.ts';
import type { GatewayRequest } from '../../http/gateway-request.ts';
import { withoutGatewayCookies } from '../gateway-cookies.ts';
import { FieldRules } from '../field-rules.ts';
import { listedInConnection } from '../hop-by-hop.ts';
import { mayTrail, ownerOfRequestField } from '../foreign-fields.ts';

/** Which of the client's own credentials an upstream gets. */
export type CredentialsOfClient = 'forward' | 'forward-session' | 'remove';

/** The credentials that an upstream gets. */
export interface UpstreamCredentials {
  /** Whether the client's `Authorization` and `Mcp-Session-Id` are forwarded, or only the session's id. */
  readonly ofClient: CredentialsOfClient;
  /** Flat list of names and values: the assertion, an internal token, the server's id of a session. */
  readonly added: readonly string[];
}

const rules = new FieldRules(ruleOf);

/** Far above any list of hop-by-hop fields. Attack: thousands of options take milliseconds to be listed. */
const MAX_CONNECTION_LENGTH = 1_024;

/**
 * Returns the header fields for the upstream, as a flat list: the client's in their order and spelling,
 * without those that only the gateway may write, and without those of other gateways that the route does
 * not let through; then the gateway's own. A `trace` takes the place of the client's trace context; without
 * one, the client's passes like any other field.
 *
 * The transport adds `Host` and the fields that frame the body.
 */
export function upstreamHeaders(
  { id, authority, remoteAddress, message }: GatewayRequest,
  { scheme, passRequestHeaders }: Pick<CompiledRoute, 'scheme' | 'passRequestHeaders'>,
  { ofClient, added }: UpstreamCredentials,
  trace?: TraceContext,
): readonly string[] {
  const { rawHeaders } = message;
  const { connection } = message.headers;
  if (connection !== undefined && connection.length > MAX_CONNECTION_LENGTH) {
    throw new BadRequestError('connection-options', 'the Connection field has too many options');
  }
  const listed = listedInConnection(connection);
  const headers: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const { name, rule } = rules.ruleFor(rawHeaders[index] ?? '');
    const value = rawHeaders[index + 1] ?? '';
    if (rule === 'drop' || listed?.has(name.toLowerCase()) === true) continue;
    if (rule === 'foreign') {
      if (passRequestHeaders?.includes(name.toLowerCase()) === true) headers.push(name, value);
      continue;
    }
    const kept = rule === 'keep' ? value : valueToKeep(rule, value, ofClient, trace);
    if (kept !== undefined) headers.push(name, kept);
  }
  headers.push('X-Forwarded-For', remoteAddress);
  headers.push('X-Forwarded-Host', authority, 'X-Forwarded-Proto', scheme, 'X-Request-Id', id);
  for (const item of added) headers.push(item);
  addTrace(headers, trace);
  return headers;
}

function addTrace(headers: string[], trace: TraceContext | undefined): void {
  if (trace === undefined) return;
  headers.push('traceparent', formatTraceparent(trace));
  if (trace.traceState !== undefined) headers.push('tracestate', trace.traceState);
}

/** Returns the part of a client's field that the upstream gets; undefined if it gets nothing. */
function valueToKeep(
  rule: Exclude<Rule, 'drop' | 'foreign' | 'keep'>,
  value: string,
  ofClient: CredentialsOfClient,
  trace: TraceContext | undefined,
): string | undefined {
  if (rule === 'trace') return trace === undefined ? value : undefined;
  if (rule === 'session') return ofClient === 'remove' ? undefined : value;
  if (rule === 'authorization') {
    return ofClient !== 'forward' || holdsGatewayToken(value) ? undefined : value;
  }
  const others = withoutGatewayCookies(value);
  return others === '' ? undefined : others;
}

/**
 * Returns the trailer fields that the upstream may get. Many recipients merge trailers into the header,
 * so fields that clients must not write there are dropped here (RFC 9110, section 6.5.1).
 */
export function upstreamTrailers(rawTrailers: readonly string[]): [string, string][] {
  const trailers: [string, string][] = [];
  for (let index = 0; index < rawTrailers.length; index += 2) {
    const name = rawTrailers[index] ?? '';
    if (mayTrail(name)) trailers.push([name, rawTrailers[index + 1] ?? '']);
  }
  return trailers;
}

/** How the header fields of one name are treated. */
type Rule = 'drop' | 'foreign' | 'keep' | 'cookie' | 'authorization' | 'session' | 'trace';

function ruleOf(lower: string): Rule {
  if (lower === 'cookie' || lower === 'authorization') return lower;
  if (lower === 'traceparent' || lower === 'tracestate') return 'trace';
  // CGI and WSGI read `Mcp_Session_Id` as the same variable.
  if (SESSION_ID.test(lower)) return 'session';
  const folded = foldFieldName(lower);
  if (folded !== lower && CHECKED_ON_MCP_ROUTES.has(folded)) return 'drop';
  return RULE_OF_OWNER[ownerOfRequestField(lower)];
}

const RULE_OF_OWNER = { gateway: 'drop', foreign: 'foreign', sender: 'keep' } as const;

const SESSION_ID = /^mcp[^a-z\d]session[^a-z\d]id$/;

/**
 * Fields that are compared with a body, or decide how it is read. Attack: beside a checked `Mcp-Name`, CGI
 * and WSGI would read another tool from `Mcp_Name`.
 */
const CHECKED_ON_MCP_ROUTES: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-type',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
]);
