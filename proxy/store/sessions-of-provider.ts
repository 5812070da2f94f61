import type { SessionStore } from './session-store.ts';

/**
 * Returns the store with only the sessions of the configured identity provider. Sessions of a
 * different or renamed provider count as ended, because its subjects do not identify users of this
 * provider.
 */
export function sessionsOfProvider(
  sessions: SessionStore,
  provider: () => string | undefined,
): SessionStore {
  return {
    create: (session) => sessions.create(session),
    async get(id) {
      const session = await sessions.get(id);
      return session?.identity.provider === provider() ? session : null;
    },
    revoke: (id) => sessions.revoke(id),
  };
}
