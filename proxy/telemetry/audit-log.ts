import type { CompiledSettings } from '../../shared/snapshot/snapshot.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import { activeTrace } from '../../shared/telemetry/tracing/active-trace.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { Identity } from '../records/session.ts';
import type { AppliedChanges } from './applied-changes.ts';

interface EventKind {
  readonly message: string;
  /** `warn`: somebody may have stolen something. */
  readonly level: 'info' | 'warn';
}

/** The events of the audit log by their stable names, which docs/logs.md lists. */
const EVENTS = {
  'sign-in-completed': { message: 'user signed in', level: 'info' },
  'sign-in-refused': { message: 'sign-in refused', level: 'info' },
  'sign-in-ended': { message: 'sign-in ended', level: 'info' },
  'signed-out': { message: 'user signed out', level: 'info' },
  'client-registered': { message: 'client registered', level: 'info' },
  'consent-given': { message: 'consent given', level: 'info' },
  'consent-remembered': { message: 'consent remembered', level: 'info' },
  'consent-denied': { message: 'consent denied', level: 'info' },
  'code-issued': { message: 'authorization code issued', level: 'info' },
  'code-redeemed': { message: 'authorization code redeemed', level: 'info' },
  'code-reused': { message: 'authorization code reused', level: 'warn' },
  'token-issued': { message: 'token issued', level: 'info' },
  'token-refreshed': { message: 'token refreshed', level: 'info' },
  'token-revoked': { message: 'token revoked', level: 'info' },
  'refresh-token-replayed': { message: 'refresh token replayed', level: 'warn' },
  'connection-made': { message: 'connection made', level: 'info' },
  'connection-failed': { message: 'connection failed', level: 'info' },
  'connection-ended': { message: 'connection ended', level: 'info' },
  'client-removed': { message: 'client removed', level: 'info' },
  'grant-revoked': { message: 'grant revoked', level: 'info' },
  'configuration-applied': { message: 'new configuration in force', level: 'info' },
} as const satisfies Readonly<Record<string, EventKind>>;

/** The stable name of an event. */
export type AuditEvent = keyof typeof EVENTS;

/** All events. */
export const AUDIT_EVENTS = Object.keys(EVENTS) as readonly AuditEvent[];

/** Where an event happened: an `EndpointContext` is one. */
export interface AuditContext {
  /** Absent for what the gateway does by itself. */
  readonly request?: Pick<GatewayRequest, 'id' | 'remoteAddress' | 'trace'> | undefined;
  readonly configuration: { readonly settings: Pick<CompiledSettings, 'authorizeLogFields'> };
  /** Who ran the command that did it. Absent for what users, clients and the gateway do. */
  readonly operator?: string;
}

/**
 * What is known about an event. It has no member for a token, a code or a secret: ids of grants, tokens
 * and sign-ins only name them.
 */
export interface AuditDetails {
  readonly identity?: Pick<Identity, 'provider' | 'subject' | 'email'> | undefined;
  /** Origin of the authorization server. */
  readonly issuer?: string;
  readonly clientId?: string;
  /** The client's own words. */
  readonly clientName?: string | undefined;
  /** Host to which the client gets its answer, or the scheme of an application. */
  readonly redirectTarget?: string;
  /** URL of the MCP route. */
  readonly resource?: string;
  readonly scopes?: readonly string[];
  readonly grantId?: string;
  readonly tokenId?: string;
  readonly signInId?: string;
  readonly reason?: string;
  /** Of a configuration that was applied. */
  readonly applied?: AppliedChanges;
}

/**
 * The audit log: one JSON line for each time that a user or an application is let in or out, and for each
 * configuration that is applied.
 */
export class AuditLog {
  readonly #logger: Logger;
  readonly #onEvent: ((event: AuditEvent) => void) | undefined;

  /** `onEvent` gets every event too, for metrics. */
  constructor(logger: Logger, onEvent?: (event: AuditEvent) => void) {
    this.#logger = logger;
    this.#onEvent = onEvent;
  }

  write(event: AuditEvent, context: AuditContext, details: AuditDetails): void {
    const { message, level } = EVENTS[event];
    this.#logger[level](message, { event, ...fieldsOf(context, details) });
    this.#onEvent?.(event);
  }
}

function fieldsOf(
  { request, configuration: { settings }, operator: ranBy }: AuditContext,
  { identity, ...details }: AuditDetails,
): Readonly<Record<string, unknown>> {
  const fields = {
    'request-id': request?.id,
    // What a request causes beside itself, such as a renewal of the session, belongs to its trace.
    'trace-id': (request?.trace ?? activeTrace())?.context.traceId,
    // The address and the e-mail only if the operator lists them, as in the authorization log.
    ip: settings.authorizeLogFields.includes('ip') ? request?.remoteAddress : undefined,
    operator: ranBy,
    user: identity?.subject,
    provider: identity?.provider,
    email: settings.authorizeLogFields.includes('email') ? identity?.email : undefined,
    issuer: details.issuer,
    'client-id': details.clientId,
    'client-name': details.clientName,
    'redirect-target': details.redirectTarget,
    resource: details.resource,
    scopes: details.scopes,
    'grant-id': details.grantId,
    'token-id': details.tokenId,
    'sign-in-id': details.signInId,
    reason: details.reason,
    ...details.applied,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
