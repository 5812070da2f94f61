import type { BrowserSession } from '../records/browser-session.ts';
import type { Session } from '../records/session.ts';
import type { TokenHash } from '../crypto/tokens.ts';

/** Sessions by id, until they expire. */
export interface SessionStore {
  create(session: Session): Promise<void>;
  /** Null if unknown, expired or revoked. */
  get(id: string): Promise<Session | null>;
  /** Ends the session everywhere, grants included. */
  revoke(id: string): Promise<void>;
}

/** Browser sessions by the hash of the cookie's value. */
export interface BrowserSessionStore {
  /** `expiresAt` in milliseconds since the epoch. */
  save(cookieHash: TokenHash, browserSession: BrowserSession, expiresAt: number): Promise<void>;
  get(cookieHash: TokenHash): Promise<BrowserSession | null>;
  /** Ends every browser session of a session, on every host. Its grants stay valid. */
  deleteAll(sessionId: string): Promise<void>;
}
