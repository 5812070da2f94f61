/** Who a user is, as the identity provider said at sign-in. */
export interface Identity {
  /** Name of the identity provider; `subject` is unique only within it. */
  readonly provider: string;
  readonly subject: string;
  /** Absent too when the provider says that it is not verified. */
  readonly email?: string;
  readonly name?: string;
  readonly groups: readonly string[];
  /** Every claim of the ID token and of userinfo, for `claim/<path>` criteria. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** A user who is signed in, for a time. Shared by the browser and by every grant made from it. */
export interface Session {
  readonly id: string;
  /** The sign-in it was made from; a new one can be when this one has expired. */
  readonly signInId: string;
  readonly identity: Identity;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
}
