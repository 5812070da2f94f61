import type { CompiledRoute } from '../../../shared/snapshot/snapshot.ts';
import type { Logger } from '../../../shared/telemetry/logger.ts';
import type { Tracer } from '../../../shared/telemetry/tracing/tracer.ts';
import type { Caller } from '../../authentication/caller.ts';
import { CheckCache } from '../../authentication/check-cache.ts';
import { ExpiringMap } from '../../cache/expiring-map.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { InternalToken } from '../../records/internal-token.ts';
import type { UserReference } from '../../records/user-key.ts';
import { REST_SECONDS } from '../../store/renewal-lease.ts';
import type { AuditLog } from '../../telemetry/audit-log.ts';
import type { UpstreamTokens } from '../protocol/upstream-tokens.ts';
import { type ConnectionState, connectionStateOf, mapInTurns } from './connection-state.ts';
import { KeptTokens, type TokenStores } from './kept-tokens.ts';
import { connectedToken, type NewConnection } from './make-token.ts';
import { revokeAtServer } from './revoke-at-server.ts';
import { scopeUnion } from './scope-union.ts';
import type { TokenServers } from './server-of-token.ts';
import { type TokenName, tokenNameOf } from './token-name.ts';
import { TokenRenewals } from './token-renewals.ts';
import { isOver, isSameToken, refreshedFrom } from './token-times.ts';
import { type InternalTokenContext, type InternalTokenUse, tokenUseOf } from './token-use.ts';

/** A token, or that the user has to connect first. */
export type TokenOrNone = InternalToken | 'not-connected';

/** The user who makes a request. */
type UserCaller = Extract<Caller, { readonly kind: 'user' }>;

const MAX_TOKENS = 10_000;

/** At most once in this time, a user is asked for more scopes of a route. */
const STEP_UP_SECONDS = 3600;

/** How long it is remembered that a user was asked for more scopes, and did nothing. */
const NEED_SECONDS = 30 * 24 * 3600;

/** Options of `InternalTokens`. */
export interface InternalTokensOptions {
  readonly stores: TokenStores;
  readonly servers: TokenServers;
  readonly audit: AuditLog;
  readonly logger: Logger;
  /** See `TokenRenewals`. */
  readonly tracer?: Pick<Tracer, 'start'> | undefined;
  /** How long a token counts without the stores while they are unavailable. */
  readonly outageGraceSeconds: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface KnownToken {
  readonly token: InternalToken;
  /** Milliseconds since the epoch. */
  readonly refreshedFrom: number;
}

/**
 * The internal tokens (TI) of users: with them, the gateway calls upstreams that have OAuth of their own.
 *
 * A token that was read within the last 5 seconds costs no I/O and no promise. It is refreshed before it
 * expires, beside the requests that use it. All methods throw for routes without upstream OAuth, unless
 * they say something else, and reject with a `StoreUnavailableError`.
 */
export class InternalTokens implements Disposable {
  readonly #options: InternalTokensOptions;
  readonly #kept: KeptTokens;
  readonly #renewals: TokenRenewals;
  /** By the id of the token's name. */
  readonly #known: CheckCache<KnownToken>;
  /** Tokens that this process has just tried to refresh before they expire. */
  readonly #triedAhead: ExpiringMap<true>;

  constructor(options: InternalTokensOptions) {
    const { stores, servers, audit, outageGraceSeconds, now, tracer } = options;
    this.#options = options;
    this.#kept = new KeptTokens(stores, audit);
    const store = stores.internalTokens;
    this.#renewals = new TokenRenewals({ tokens: this.#kept, store, servers, now, tracer });
    this.#known = new CheckCache<KnownToken>({
      revocations: stores.revocations,
      maxEntries: MAX_TOKENS,
      // Changes of tokens name the key, and nothing else ends them.
      dependsOn: () => false,
      isCurrent: () => true,
      expiryOf: ({ token: { expiresAt = Infinity } }) => expiresAt,
      outageGraceSeconds,
      now,
    });
    this.#triedAhead = new ExpiringMap(now);
  }

  [Symbol.dispose](): void {
    this.#known[Symbol.dispose]();
  }

  /**
   * Returns the token with which a request of this caller is sent; without a promise while it is known.
   * Rejects with an `UnavailableError` if it has expired and cannot be refreshed now.
   */
  tokenFor(
    { session: { identity } }: UserCaller,
    route: CompiledRoute,
    context: InternalTokenContext,
  ): TokenOrNone | Promise<TokenOrNone> {
    const name = tokenNameOf(identity, route);
    const known = this.#known.get(name.id, () => this.#read(name));
    return known instanceof Promise
      ? known.then((read) => this.#usable(read, identity, route, context))
      : this.#usable(known, identity, route, context);
  }

  /**
   * Returns a newer token than the one that the upstream has just refused with 401: there is one refresh,
   * whoever else asks. `not-connected` if there is none to be had: then the refused one is dropped. Rejects
   * with an `UnavailableError` if it cannot be refreshed now.
   */
  async replacementOf(
    refused: InternalToken,
    { session: { identity } }: UserCaller,
    route: CompiledRoute,
    context: InternalTokenContext,
  ): Promise<TokenOrNone> {
    const use = tokenUseOf(identity, route, context);
    const found = await this.#kept.find(use.name);
    if (found === null) return 'not-connected';
    const isReplaced = !isSameToken(found.token, refused);
    if (isReplaced && !isOver(found.token, this.#options.now())) return found.token;
    return (await this.#renewals.replace(use, refused)) ?? 'not-connected';
  }

  /** Drops a token that the upstream refuses although it is new, unless another one has replaced it. */
  async drop(
    refused: InternalToken,
    { session: { identity } }: UserCaller,
    route: CompiledRoute,
    context: InternalTokenContext,
  ): Promise<void> {
    const use = tokenUseOf(identity, route, context);
    const found = await this.#kept.find(use.name);
    if (found === null || !isSameToken(found.token, refused)) return;
    await this.#kept.drop(use, 'refused-by-upstream', found.version);
  }

  /**
   * Remembers that the upstream wants these scopes besides those of the token (403 `insufficient_scope`), until
   * the user connects again. `asked-lately` if that happened within the last hour: then nothing changes, so
   * that a user who cannot get them is not asked again and again.
   */
  async requireScopes(
    { session: { identity } }: UserCaller,
    route: CompiledRoute,
    scopes: readonly string[],
  ): Promise<'asked' | 'asked-lately'> {
    const { connectionNeeds } = this.#options.stores;
    const name = tokenNameOf(identity, route);
    if (!(await connectionNeeds.claimStepUp(name.key, STEP_UP_SECONDS))) return 'asked-lately';
    const [found, need] = await Promise.all([this.#kept.find(name), connectionNeeds.get(name.key)]);
    const union = scopeUnion(found?.token.scopes ?? [], need?.scopes ?? [], scopes);
    await connectionNeeds.put(name.key, { scopes: union }, NEED_SECONDS);
    return 'asked';
  }

  /** Forgets that the upstream wants more scopes, which the user cannot get or does not want to give. */
  giveUpScopes(user: UserReference, route: CompiledRoute): Promise<void> {
    return this.#options.stores.connectionNeeds.delete(tokenNameOf(user, route).key);
  }

  /** Returns whether a user has done all that the upstream of a route needs; true if it needs nothing. */
  async isConnected(user: UserReference, route: CompiledRoute): Promise<boolean> {
    const [state] = await this.statesOf(user, [route]);
    return state === 'connected' || state === 'none-needed';
  }

  /** Returns the states of any routes for a user, in their order. Asks the stores only. */
  statesOf(
    user: UserReference,
    routes: readonly CompiledRoute[],
  ): Promise<readonly ConnectionState[]> {
    const { stores, now } = this.#options;
    return mapInTurns(routes, (route) => connectionStateOf(user, route, stores, now()));
  }

  /** Keeps the tokens of a new connection. */
  connect(connection: NewConnection, tokens: UpstreamTokens): Promise<void> {
    return this.#kept.connect(connection, connectedToken(connection, tokens, this.#options.now()));
  }

  /**
   * Drops a user's token, and has it revoked where the authorization server can. That it cannot changes
   * nothing.
   */
  async disconnect(
    user: UserReference,
    route: CompiledRoute,
    context: InternalTokenContext,
  ): Promise<void> {
    const use = tokenUseOf(user, route, context);
    const found = await this.#kept.find(use.name);
    await this.#options.stores.connectionNeeds.delete(use.name.key);
    await this.#kept.drop(use, 'disconnected');
    if (found !== null) await revokeAtServer(found.token, use, this.#options.servers);
  }

  async #read(name: TokenName): Promise<KnownToken | null> {
    const found = await this.#kept.find(name);
    return found && { token: found.token, refreshedFrom: refreshedFrom(found.token) };
  }

  #usable(
    known: KnownToken | null,
    user: UserReference,
    route: CompiledRoute,
    context: InternalTokenContext,
  ): TokenOrNone | Promise<TokenOrNone> {
    if (known === null) return 'not-connected';
    const { token } = known;
    const now = this.#options.now();
    if (now < known.refreshedFrom && !isOver(token, now)) return token;
    if (token.refreshToken === undefined) return 'not-connected';
    const use = tokenUseOf(user, route, context);
    if (isOver(token, now)) {
      return this.#renewals.replace(use, token).then((newer) => newer ?? 'not-connected');
    }
    this.#refreshAhead(use, token);
    return token;
  }

  /** The next request reads the new token, because its change is announced. */
  #refreshAhead(use: InternalTokenUse, token: InternalToken): void {
    const { id, key } = use.name;
    if (this.#triedAhead.get(id) !== null) return;
    this.#triedAhead.set(id, true, REST_SECONDS);
    this.#renewals.replaceAhead(use, token).catch((error: unknown) => {
      const reason = error instanceof GatewayError ? error.reason : 'internal-error';
      const fields = { route: use.route.name, user: key.user.subject, reason };
      this.#options.logger.warn('internal token not refreshed ahead', fields, error);
    });
  }
}
