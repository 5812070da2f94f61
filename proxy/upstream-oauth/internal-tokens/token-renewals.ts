import { inOwnTrace, inSpan } from '../../../shared/telemetry/tracing/active-trace.ts';
import type { Tracer } from '../../../shared/telemetry/tracing/tracer.ts';
import { SingleFlight } from '../../cache/single-flight.ts';
import type { InternalToken } from '../../records/internal-token.ts';
import type {
  InternalTokenStore,
  VersionedInternalToken,
} from '../../store/internal-token-store.ts';
import { type CannotRenew, renewInTurn } from '../../store/renew-in-turn.ts';
import type { ExtendLease } from '../../store/renewal-lease.ts';
import {
  renewToken,
  type RenewTokenOptions,
  StaleTokenError,
  tokensUnavailable,
} from './renew-token.ts';
import { revokeAtServer } from './revoke-at-server.ts';
import { isOver, isSameToken } from './token-times.ts';
import type { InternalTokenUse } from './token-use.ts';

const CANNOT_RENEW: Readonly<Record<CannotRenew, string>> = {
  busy: 'another request has been refreshing the internal token for too long',
  resting: 'the internal token could not be refreshed a moment ago',
};

const SPAN = 'upstream token renewal';

/** Options of `TokenRenewals`. */
export interface TokenRenewalsOptions extends RenewTokenOptions {
  readonly store: InternalTokenStore;
  /** Traces the renewals beside requests. */
  readonly tracer?: Pick<Tracer, 'start'> | undefined;
}

/**
 * Refreshes internal tokens. One request over all proxies uses a refresh token, since many servers accept
 * each only once; the others wait for its result.
 */
export class TokenRenewals {
  readonly #options: TokenRenewalsOptions;
  /** The requests of this process that replace one token share it. */
  readonly #underWay = new SingleFlight<InternalToken | null>();

  constructor(options: TokenRenewalsOptions) {
    this.#options = options;
  }

  /**
   * Returns a newer token than `old`, which may be there already. Null if the user must connect again.
   * Rejects with an `UnavailableError` if that cannot be decided at present.
   */
  replace(use: InternalTokenUse, old: InternalToken): Promise<InternalToken | null> {
    return this.#underWay.run(renewalOf(use, old), () =>
      inSpan(SPAN, 'internal', { 'gatehouse.route.name': use.route.name }, () =>
        this.#claimAndRenew(use, old),
      ),
    );
  }

  /** Does the same beside the requests, which do not wait for it: its trace is one of its own. */
  replaceAhead(use: InternalTokenUse, old: InternalToken): Promise<InternalToken | null> {
    return this.#underWay.run(renewalOf(use, old), () =>
      inOwnTrace(this.#options.tracer, SPAN, () => this.#claimAndRenew(use, old)),
    );
  }

  #claimAndRenew(use: InternalTokenUse, old: InternalToken): Promise<InternalToken | null> {
    return renewInTurn(this.#options.store, use.name.key, {
      renew: (claimed, extend) => this.#renew(claimed, extend, use, old),
      unavailable: (why) => tokensUnavailable(CANNOT_RENEW[why]),
    });
  }

  async #renew(
    claimed: VersionedInternalToken,
    extend: ExtendLease,
    use: InternalTokenUse,
    old: InternalToken,
  ): Promise<InternalToken | null> {
    // Another renewal may have finished between the look-up and the claim.
    if (this.#isNewer(claimed, old)) return claimed.token;
    try {
      return await renewToken(claimed, extend, use, this.#options);
    } catch (error) {
      if (!(error instanceof StaleTokenError)) throw error;
      return this.#tokenOfAnother(use, old, error);
    }
  }

  async #tokenOfAnother(
    use: InternalTokenUse,
    old: InternalToken,
    { refreshed }: StaleTokenError,
  ): Promise<InternalToken | null> {
    const { store, servers } = this.#options;
    const found = await store.get(use.name.key);
    if (found === null) {
      // The user has disconnected, so the server too must forget what it gave meanwhile.
      if (refreshed !== undefined) await revokeAtServer(refreshed, use, servers);
      return null;
    }
    if (this.#isNewer(found, old)) return found.token;
    throw tokensUnavailable('another request is refreshing the internal token');
  }

  #isNewer({ token }: VersionedInternalToken, old: InternalToken): boolean {
    return !isSameToken(token, old) && !isOver(token, this.#options.now());
  }
}

/** Names a renewal: of one token, however often it is asked for. */
function renewalOf({ name }: InternalTokenUse, { issuedAt }: InternalToken): string {
  return `${name.id} ${String(issuedAt)}`;
}
