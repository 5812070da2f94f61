import type { UserReference } from '../../records/user-key.ts';
import type { Stores } from '../../store/stores.ts';
import { endSignInWithId } from './end-sign-in.ts';

/** The stores of sign-ins and of their lists. */
export type SignInStores = Pick<Stores, 'signIns' | 'signInsOfUsers' | 'sessions' | 'revocations'>;

/** A sign-in, and whose it is. */
interface OwnSignIn {
  readonly identity: UserReference;
  readonly signInId: string;
}

/**
 * Puts a sign-in on the list of its user, before it exists: one that is on no list could not be ended
 * everywhere. Ends those for which the list has no room.
 */
export async function listSignIn(
  { identity, signInId }: OwnSignIn,
  stores: SignInStores,
  ttlSeconds: number,
): Promise<void> {
  const dropped = await stores.signInsOfUsers.keep(identity, { id: signInId }, ttlSeconds);
  await Promise.all(dropped.map(({ id }) => endSignInWithId(id, stores)));
}

/** Extends the life of a sign-in, and of its place on the list, to at least `ttlSeconds` from now. */
export async function keepSignIn(
  signIn: OwnSignIn,
  stores: SignInStores,
  ttlSeconds: number,
): Promise<void> {
  await listSignIn(signIn, stores, ttlSeconds);
  await stores.signIns.extend(signIn.signInId, ttlSeconds);
}
