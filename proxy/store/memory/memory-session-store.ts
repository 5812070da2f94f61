import type { Session } from '../../records/session.ts';
import type { SessionStore } from '../session-store.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';

/** Sessions of one process. */
export class MemorySessionStore implements SessionStore {
  readonly #sessions: ExpiringMap<Session>;

  constructor(now: Now) {
    this.#sessions = new ExpiringMap(now);
  }

  create(session: Session): Promise<void> {
    this.#sessions.setUntil(session.id, session, session.expiresAt);
    return Promise.resolve();
  }

  get(id: string): Promise<Session | null> {
    return Promise.resolve(this.#sessions.get(id));
  }

  revoke(id: string): Promise<void> {
    this.#sessions.delete(id);
    return Promise.resolve();
  }
}
