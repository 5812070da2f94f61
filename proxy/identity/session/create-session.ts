import type { CompiledSettings } from '../../../shared/snapshot/snapshot.ts';
import type { Stores } from '../../store/stores.ts';
import type { Session } from '../../records/session.ts';

const SECOND = 1000;

/** Options of `createSession`. */
interface CreateSessionOptions {
  readonly stores: Pick<Stores, 'sessions'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Creates and stores a session of a sign-in, with the full lifetime. */
export async function createSession(
  begun: Pick<Session, 'id' | 'signInId' | 'identity' | 'signInTrace'>,
  { cookie }: Pick<CompiledSettings, 'cookie'>,
  { stores, now }: CreateSessionOptions,
): Promise<Session> {
  const createdAt = now();
  const expiresAt = createdAt + cookie.expirationSeconds * SECOND;
  const session = { ...begun, createdAt, expiresAt };
  await stores.sessions.create(session);
  return session;
}
