import type { VersionedSignIn } from '../../store/sign-in-store.ts';
import type { Stores } from '../../store/stores.ts';

/**
 * Ends a sign-in for good: its session, the tokens that stand on that, and every session that could
 * have been made from it.
 *
 * False, and nothing has ended, when it is not at this version any more.
 */
export async function endSignIn(
  { signIn, version }: VersionedSignIn,
  { signIns, sessions, revocations }: Pick<Stores, 'signIns' | 'sessions' | 'revocations'>,
): Promise<boolean> {
  const { id, provider, identity, sessionId } = signIn;
  // A renewal under way could put another session into the sign-in after this one was read. Now it
  // finds another version, and takes its session back.
  const withoutToken = { id, provider, identity, sessionId };
  if ((await signIns.update(withoutToken, version)) === null) return false;
  await signIns.end(id);
  await sessions.revoke(sessionId);
  await revocations.publish({ kind: 'session', sessionId });
  return true;
}
