import type { Identity } from './session.ts';

/** One sign-in of one user: what its session was made from, and new ones can be. */
export interface SignInRecord {
  readonly id: string;
  /** Where the user signed in. The refresh token goes nowhere else. */
  readonly provider: {
    readonly name: string;
    readonly issuer: string;
    /** Of the gateway, at the provider. */
    readonly clientId: string;
  };
  /** As the provider said last. */
  readonly identity: Identity;
  /** The session that was made last. */
  readonly sessionId: string;
  /** The provider's refresh token: the only copy there is. Absent when the provider gave none. */
  readonly refreshToken?: string;
}
