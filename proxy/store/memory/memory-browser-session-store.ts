import type { BrowserSession } from '../../records/browser-session.ts';
import type { BrowserSessionStore } from '../session-store.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';
import type { TokenHash } from '../../crypto/tokens.ts';

/** Browser sessions of one process. */
export class MemoryBrowserSessionStore implements BrowserSessionStore {
  readonly #browserSessions: ExpiringMap<BrowserSession>;

  constructor(now: Now) {
    this.#browserSessions = new ExpiringMap(now);
  }

  save(cookieHash: TokenHash, browserSession: BrowserSession, expiresAt: number): Promise<void> {
    this.#browserSessions.setUntil(cookieHash, browserSession, expiresAt);
    return Promise.resolve();
  }

  get(cookieHash: TokenHash): Promise<BrowserSession | null> {
    return Promise.resolve(this.#browserSessions.get(cookieHash));
  }

  deleteAll(sessionId: string): Promise<void> {
    this.#browserSessions.deleteWhere((browserSession) => browserSession.sessionId === sessionId);
    return Promise.resolve();
  }
}
