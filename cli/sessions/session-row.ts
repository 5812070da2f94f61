import type { Grant } from '../../proxy/records/grant.ts';
import type { SignInRecord } from '../../proxy/records/sign-in-record.ts';
import type { KeptRecord } from '../../proxy/store/redis/stores/redis-inventory.ts';
import { compareText } from '../../shared/runtime/compare-text.ts';

/** A sign-in of a user in a browser, or a client that the user approved during it. */
export interface SessionRow {
  /** Id of the sign-in or of the grant, as in the audit log. It is no secret. */
  readonly id: string;
  readonly kind: 'browser' | 'client';
  readonly signInId: string;
  readonly user: {
    readonly provider: string;
    readonly subject: string;
    readonly email: string | undefined;
  };
  /** Of a client. */
  readonly client?: {
    readonly id: string;
    readonly name: string | undefined;
    /** URL of the MCP route. */
    readonly resource: string;
  };
  /** Milliseconds since the epoch, and so are the others; undefined in records of earlier releases. */
  readonly createdAt: number | undefined;
  readonly usedAt: number | undefined;
  readonly expiresAt: number;
}

/** Returns the row of a sign-in. When it was used last is in its session. */
export function signInRow(
  { value, remainingMs }: KeptRecord<SignInRecord>,
  now: number,
): SessionRow {
  const { id, identity, createdAt } = value;
  const { provider, subject, email } = identity;
  return {
    ...{ id, kind: 'browser', signInId: id, user: { provider, subject, email } },
    ...{ createdAt, usedAt: undefined, expiresAt: now + remainingMs },
  };
}

/** Returns the row of a grant that was given during a sign-in. */
export function grantRow(
  { value, remainingMs }: KeptRecord<Grant>,
  { user }: Pick<SessionRow, 'user'>,
  now: number,
): SessionRow {
  const { id, signInId, clientId, clientName, resource, createdAt, usedAt } = value;
  return {
    ...{ id, kind: 'client', signInId, user, createdAt, usedAt, expiresAt: now + remainingMs },
    client: { id: clientId, name: clientName, resource },
  };
}

/** Orders rows by user; the clients of a sign-in follow it. */
export function compareSessions(a: SessionRow, b: SessionRow): number {
  return (
    compareText(labelOf(a), labelOf(b)) ||
    compareText(a.user.provider, b.user.provider) ||
    compareText(a.user.subject, b.user.subject) ||
    compareText(a.signInId, b.signInId) ||
    compareText(a.kind, b.kind) ||
    compareText(a.id, b.id)
  );
}

/** Returns what people call the user of a row. */
export function labelOf({ user: { email, subject } }: Pick<SessionRow, 'user'>): string {
  return email ?? subject;
}
