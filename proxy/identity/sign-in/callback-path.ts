import type { CompiledIdentityProvider } from '../../../shared/snapshot/snapshot.ts';
import { PATHS } from '../../endpoints/paths.ts';

/**
 * Returns the path of the redirect URI that is registered at a provider: every provider has its own.
 *
 * Attack: mix-up (RFC 9700, section 4.4). A provider sends its user on to another one, with its own `state`,
 * to get the code of the other one. Many providers do not say in their answer who they are (RFC 9207), but
 * each answers only at the redirect URI that it knows. GitHub also answers at every path below that one, so
 * it never has the path that those of other providers begin with.
 */
export function callbackPath({
  type,
  signIn,
  name,
}: Pick<CompiledIdentityProvider, 'type' | 'signIn' | 'name'>): string {
  return signIn && type !== 'github' ? PATHS.callback : PATHS.callbackOfProvider + name;
}
