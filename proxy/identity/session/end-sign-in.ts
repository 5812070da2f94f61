import type { SignInRecord } from '../../records/sign-in-record.ts';
import type { VersionedSignIn } from '../../store/sign-in-store.ts';
import type { Stores } from '../../store/stores.ts';

type EndingStores = Pick<Stores, 'signIns' | 'sessions' | 'revocations'>;

/** Ends a sign-in as `endSignIn` does, whatever changes it meanwhile. Returns what it was; null if unknown. */
export async function endSignInWithId(
  id: string,
  stores: EndingStores,
): Promise<SignInRecord | null> {
  for (;;) {
    const found = await stores.signIns.get(id);
    if (found === null) return null;
    if (await endSignIn(found, stores)) return found.signIn;
  }
}

/**
 * Ends a sign-in for good, with its session and the tokens of that session. No further session can be made
 * from it.
 *
 * Returns false, and changes nothing, if the sign-in was changed meanwhile.
 */
export async function endSignIn(
  { signIn, version }: VersionedSignIn,
  { signIns, sessions, revocations }: EndingStores,
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
