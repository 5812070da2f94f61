import type { TraceContext } from '../../shared/telemetry/tracing/trace-context.ts';

/** The identity of a user, from the identity provider's last response. */
export interface Identity {
  /** Name of the identity provider in the settings. */
  readonly provider: string;
  /**
   * Issuer of the identity provider; `subject` is unique only within it. Absent in records of releases
   * that did not know it: such an identity is of no provider.
   */
  readonly issuer?: string;
  readonly subject: string;
  /** Also absent if the provider calls it unverified. */
  readonly email?: string;
  readonly name?: string;
  readonly groups: readonly string[];
  /**
   * Present if nobody names the groups of the user, and the scopes for them were left out. `groups` is empty
   * then, and no policy may conclude anything from it.
   */
  readonly groupsAreUnknown?: true;
  /** Every claim of the identity token and of userinfo, for `claim/<path>` criteria. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** What a request needs to know of a session: who the caller is, and how long. */
export interface UserSession {
  readonly id: string;
  readonly identity: Identity;
  /** Milliseconds since the epoch; `Infinity` if nothing says when it ends. */
  readonly expiresAt: number;
}

/** A user who is signed in until it expires. The browser and every grant made from it share it. */
export interface Session extends UserSession {
  /** The sign-in from which the session was made. After the session expires, it can make the next one. */
  readonly signInId: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The trace of the sign-in. Absent without tracing, once renewed, and in records of earlier releases. */
  readonly signInTrace?: TraceContext;
}
