import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { UserReference } from '../records/user-key.ts';
import type { ConnectionState } from '../upstream-oauth/internal-tokens/connection-state.ts';

/** What applications and the user's page may know and undo of the connections of users to upstreams. */
export interface UserConnections {
  /** Returns the states of routes with upstream OAuth for a user, in their order. Asks no upstream. */
  statesOf(
    user: UserReference,
    routes: readonly CompiledRoute[],
  ): Promise<readonly ConnectionState[]>;
  /** Ends the connection of a user to a route with upstream OAuth, if there is one. */
  disconnect(
    user: UserReference,
    route: CompiledRoute,
    context: { readonly configuration: Pick<Configuration, 'settings'> },
  ): Promise<void>;
}
