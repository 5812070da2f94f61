import type { VersionedSignIn } from '../../store/sign-in-store.ts';
import type { Stores } from '../../store/stores.ts';

/**
 * Ends a sign-in for good, with its session and the tokens of that session. No further session can be made
 * from it.
 *
 * Returns false, and changes nothing, if the sign-in was changed meanwhile.
 */
export async function endSignIn(
  { signIn, version }: VersionedSignIn,
  { signIns, sessions, revocations }: Pick<Stores, 'signIns' | 'sessions' | 'revocations'>,
): Promise<boolean> {
  const { id, provider, identity, sessionId } = signIn;
  // A concurrent renewal could put a different session into the sign-in after it was read here. The new
  // version makes that renewal fail and revoke its session.
  const withoutToken = { id, provider, identity, sessionId };
  if ((await signIns.update(withoutToken, version)) === null) return false;
  await signIns.end(id);
  await sessions.revoke(sessionId);
  await revocations.publish({ kind: 'session', sessionId });
  return true;
}
