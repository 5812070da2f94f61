import type { VersionedSignIn } from '../../store/sign-in-store.ts';
import type { Stores } from '../../store/stores.ts';

/**
 * Ends a sign-in for good: its session, the tokens of that session, and every session that could be made
 * from it.
 *
 * Returns false, and changes nothing, if the sign-in has another version by now.
 */
export async function endSignIn(
  { signIn, version }: VersionedSignIn,
  { signIns, sessions, revocations }: Pick<Stores, 'signIns' | 'sessions' | 'revocations'>,
): Promise<boolean> {
  const { id, provider, identity, sessionId } = signIn;
  // A renewal under way could put another session into the sign-in after this one was read. The new
  // version makes it fail, and revoke that session.
  const withoutToken = { id, provider, identity, sessionId };
  if ((await signIns.update(withoutToken, version)) === null) return false;
  await signIns.end(id);
  await sessions.revoke(sessionId);
  await revocations.publish({ kind: 'session', sessionId });
  return true;
}
