import type { CompiledRoute } from '../../../shared/snapshot/snapshot.ts';
import type { UserReference } from '../../records/user-key.ts';
import type { TokenStores } from './kept-tokens.ts';
import { tokenNameOf } from './token-name.ts';
import { isUsable } from './token-times.ts';

/** Whether a user can use the upstream of a route. */
export type ConnectionState =
  /** The upstream needs no token of its own. */
  | 'none-needed'
  | 'connected'
  | 'not-connected'
  /** There is a token, but the upstream asked for more scopes than it has. */
  | 'lacks-scopes';

/** Returns whether a user has done all that the upstream of a route needs. Asks the stores only. */
export async function connectionStateOf(
  user: UserReference,
  route: CompiledRoute,
  { internalTokens, connectionNeeds }: Pick<TokenStores, 'internalTokens' | 'connectionNeeds'>,
  now: number,
): Promise<ConnectionState> {
  if (route.mcpServer?.upstreamOAuth === undefined) return 'none-needed';
  const { key } = tokenNameOf(user, route);
  const [found, need] = await Promise.all([internalTokens.get(key), connectionNeeds.get(key)]);
  if (found === null || !isUsable(found.token, now)) return 'not-connected';
  return need === null ? 'connected' : 'lacks-scopes';
}

/** How many routes are looked up at the same time. */
const CONCURRENCY = 32;

/** Looks up the routes in turns, so that a user of many does not keep the stores from others. */
export async function mapInTurns<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += CONCURRENCY) {
    results.push(...(await Promise.all(items.slice(at, at + CONCURRENCY).map(map))));
  }
  return results;
}
