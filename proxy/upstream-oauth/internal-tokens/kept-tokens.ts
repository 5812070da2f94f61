import { resourceIdentifier } from '../../configuration/resource-identifier.ts';
import {
  internalTokenId,
  type InternalToken,
  secondsToKeep,
} from '../../records/internal-token.ts';
import type { VersionedInternalToken } from '../../store/internal-token-store.ts';
import { StoreUnavailableError } from '../../store/store-unavailable-error.ts';
import type { Stores } from '../../store/stores.ts';
import type { AuditLog } from '../../telemetry/audit-log.ts';
import type { NewConnection } from './make-token.ts';
import type { TokenName } from './token-name.ts';
import type { InternalTokenUse } from './token-use.ts';

/** The stores of internal tokens, and of what belongs to them. */
export type TokenStores = Pick<
  Stores,
  'internalTokens' | 'connectionNeeds' | 'connectionsOfUsers' | 'revocations'
>;

/**
 * Changes internal tokens in the stores, together with the list of the user's connections. Every change is
 * announced to all proxies.
 */
export class KeptTokens {
  readonly #stores: TokenStores;
  readonly #audit: AuditLog;

  constructor(stores: TokenStores, audit: AuditLog) {
    this.#stores = stores;
    this.#audit = audit;
  }

  find({ key }: TokenName): Promise<VersionedInternalToken | null> {
    return this.#stores.internalTokens.get(key);
  }

  /** Keeps the token of a new connection, which ends the need for one. */
  async connect(
    { user, routeId, binding, routeName }: NewConnection,
    token: InternalToken,
  ): Promise<void> {
    const { internalTokens, connectionNeeds } = this.#stores;
    const key = { user, routeId, binding };
    const id = internalTokenId(key);
    // First, so that the user can find and end every connection.
    await this.#list({ id, key }, routeName, token);
    await internalTokens.save(key, token);
    await connectionNeeds.delete(key);
    await this.#announce(id);
  }

  /** Replaces a version of a token. Returns false, and changes nothing, if it is not the newest one. */
  async replace(
    { name: { id, key }, route }: InternalTokenUse,
    token: InternalToken,
    version: number,
  ): Promise<boolean> {
    if ((await this.#stores.internalTokens.update(key, token, version)) === null) return false;
    await unlessUnavailable(this.#list({ id, key }, route.name, token));
    await unlessUnavailable(this.#announce(id));
    return true;
  }

  /**
   * Drops a user's token, or only this version of it: the user has to connect again. Returns whether there was
   * one.
   */
  async drop(use: InternalTokenUse, reason: string, version?: number): Promise<boolean> {
    const { internalTokens, connectionsOfUsers } = this.#stores;
    const { id, key } = use.name;
    const dropped = await internalTokens.drop(key, version);
    if (!dropped && version !== undefined) return false;
    await connectionsOfUsers.remove(key.user, [id]);
    await this.#announce(id);
    if (!dropped) return false;
    const { route, configuration } = use;
    const resource = resourceIdentifier(route);
    this.#audit.write(
      'connection-ended',
      { configuration },
      { identity: key.user, resource, reason },
    );
    return true;
  }

  /** Lists a connection for its user, whose oldest one ends if there are too many. */
  async #list({ id, key }: TokenName, routeName: string, token: InternalToken): Promise<void> {
    const { internalTokens, connectionsOfUsers } = this.#stores;
    const { user, routeId, binding } = key;
    const connection = { id, routeId, binding, routeName };
    const surplus = await connectionsOfUsers.keep(user, connection, secondsToKeep(token));
    for (const oldest of surplus) {
      await internalTokens.drop({ ...oldest, user });
      await this.#announce(oldest.id);
    }
  }

  #announce(keyHash: string): Promise<void> {
    return this.#stores.revocations.publish({ kind: 'internal-token', keyHash });
  }
}

/** The token is kept, and that is what counts. Other proxies look at the store within seconds anyway. */
async function unlessUnavailable(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
  }
}
