import type { CompiledRoute } from '../../../shared/snapshot/snapshot.ts';
import type { Configuration } from '../../configuration/configuration.ts';
import type { UserReference } from '../../records/user-key.ts';
import { type TokenName, tokenNameOf } from './token-name.ts';

/** The configuration that a request began with. The client secret is read from its route. */
export interface InternalTokenContext {
  readonly configuration: Pick<Configuration, 'settings'>;
  /** For logs. Absent if it is not known. */
  readonly requestId?: string;
}

/** Whose token is used, and for which route as it is configured now. */
export interface InternalTokenUse extends InternalTokenContext {
  readonly name: TokenName;
  readonly route: CompiledRoute;
}

/** Returns the use of a user's token for a route. Throws for routes without upstream OAuth. */
export function tokenUseOf(
  user: UserReference,
  route: CompiledRoute,
  { configuration, requestId }: InternalTokenContext,
): InternalTokenUse {
  const name = tokenNameOf(user, route);
  return { name, route, configuration, ...(requestId !== undefined && { requestId }) };
}
