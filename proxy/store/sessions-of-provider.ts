import type { SessionStore } from './session-store.ts';

/**
 * Sessions of the identity provider that is configured now. Sessions of a different or renamed
 * provider have ended, because its subjects do not identify users of this one.
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
