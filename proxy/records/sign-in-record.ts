import type { Identity } from './session.ts';

/** One sign-in of one user, from which its sessions are made. */
export interface SignInRecord {
  readonly id: string;
  /** The provider at which the user signed in. The tokens are sent nowhere else. */
  readonly provider: {
    readonly name: string;
    readonly issuer: string;
    /** The gateway's client ID at the provider. */
    readonly clientId: string;
  };
  /** From the provider's last response. */
  readonly identity: Identity;
  /** When the user signed in; milliseconds since the epoch. Absent in records of earlier releases. */
  readonly createdAt?: number;
  /** The latest session. */
  readonly sessionId: string;
  /** The only copy of the provider's refresh token. Absent if the provider issued none. */
  readonly refreshToken?: string;
  /** The provider's access token, if it does not expire: it asks about the user instead. */
  readonly accessToken?: string;
}
