import type { CompiledRoute } from '../../../shared/snapshot/snapshot.ts';
import { oncePerObject } from '../../cache/once-per-object.ts';
import { internalTokenId, type InternalTokenKey } from '../../records/internal-token.ts';
import { userReference, type UserReference } from '../../records/user-key.ts';
import { bindingOf } from '../binding.ts';
import { upstreamOf } from '../discovery/upstream.ts';

/** The key of an internal token, and its id. */
export interface TokenName {
  readonly id: string;
  readonly key: InternalTokenKey;
}

/** Names by user and route: a caller keeps its identity as long as it is cached. */
const namesOfUser = oncePerObject((user: UserReference) =>
  oncePerObject((route: CompiledRoute): TokenName => {
    const key: InternalTokenKey = {
      user: userReference(user),
      routeId: upstreamOf(route).oauth.routeId,
      binding: bindingOf(route),
    };
    return { id: internalTokenId(key), key };
  }),
);

/** Returns the name of a user's token for a route. Throws for routes without upstream OAuth. */
export function tokenNameOf(user: UserReference, route: CompiledRoute): TokenName {
  return namesOfUser(user)(route);
}
