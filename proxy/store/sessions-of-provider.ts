import type { Identity } from '../records/session.ts';
import type { SessionStore } from './session-store.ts';

/**
 * Returns the store with only the sessions of users of the configured identity providers. Other sessions
 * count as ended, because the subjects of another provider do not identify users of these.
 */
export function sessionsOfProvider(
  sessions: SessionStore,
  isOfProvider: (identity: Identity) => boolean,
): SessionStore {
  return {
    create: (session) => sessions.create(session),
    async get(id) {
      const session = await sessions.get(id);
      return session !== null && isOfProvider(session.identity) ? session : null;
    },
    revoke: (id) => sessions.revoke(id),
  };
}
