import type { TraceContext } from '../../shared/telemetry/tracing/trace-context.ts';

/** A user's approval for one client to use one route; its tokens are issued from it. */
export interface Grant {
  readonly id: string;
  /** Route origin at which it was made; other origins do not know it. */
  readonly issuer: string;
  readonly clientId: string;
  /** The sign-in during which it was approved. Its tokens depend on the sessions of this sign-in. */
  readonly signInId: string;
  /** Canonical resource identifier of the route: the audience of its access tokens. */
  readonly resource: string;
  /** As requested, in the client's order. Labels that permit nothing by themselves. */
  readonly scopes: readonly string[];
  /** The client's own words at its approval, for the user's page. Absent in records of earlier releases too. */
  readonly clientName?: string;
  /** Of the authorization request: part of the consent. Absent in records of earlier releases. */
  readonly redirectUri?: string;
  /** When the client got its first token; milliseconds since the epoch. Absent in records of earlier releases. */
  readonly createdAt?: number;
  /** When the client last got a token; milliseconds since the epoch. Absent in records of earlier releases. */
  readonly usedAt?: number;
  /** The trace in which it was made. Absent without tracing, and in records of earlier releases. */
  readonly signInTrace?: TraceContext;
}
