import { setTimeout as wait } from 'node:timers/promises';

import { UnavailableError } from '../../errors/unavailable-error.ts';
import type { VersionedSignIn } from '../../store/sign-in-store.ts';
import {
  renewSession,
  StaleSignInError,
  type CurrentSettings,
  type RenewalOptions,
} from './renew-session.ts';
import {
  LEASE_SECONDS,
  REST_SECONDS,
  withLease,
  type ExtendLease,
} from '../../store/renewal-lease.ts';
import type { Session } from '../../records/session.ts';

/** How long to wait for a renewal by another proxy: longer than the lease of a crashed proxy. */
const MAX_WAIT_MS = 20_000;
const POLL_INTERVAL_MS = 100;

/**
 * Returns the live session of a sign-in, renewed if it has expired (specification: States and
 * transitions). Null if the user must sign in again; rejects with an `UnavailableError` if that cannot be
 * decided at present.
 */
export type SessionOfSignIn = (
  signInId: string,
  current: CurrentSettings,
) => Promise<Session | null>;

/**
 * Finds the live sessions of sign-ins, and renews expired ones with the provider's refresh token.
 *
 * Only one proxy uses that token at a time, since many providers accept each refresh token only once. A
 * request during a renewal waits for the new session.
 */
export class LiveSessions {
  readonly #options: RenewalOptions;
  /** Renewals by sign-in: the requests of this process share one. */
  readonly #underWay = new Map<string, Promise<Session | null>>();

  constructor(options: RenewalOptions) {
    this.#options = options;
  }

  /** See `SessionOfSignIn`. */
  async sessionOf(signInId: string, current: CurrentSettings): Promise<Session | null> {
    const found = await this.#options.stores.signIns.get(signInId);
    if (found === null) return null;
    return (await this.#liveSession(found)) ?? this.#renewOnce(signInId, current);
  }

  async #liveSession({ signIn }: VersionedSignIn): Promise<Session | null> {
    const { stores, now } = this.#options;
    const session = await stores.sessions.get(signIn.sessionId);
    return session !== null && session.expiresAt > now() ? session : null;
  }

  #renewOnce(signInId: string, current: CurrentSettings): Promise<Session | null> {
    const underWay = this.#underWay.get(signInId);
    if (underWay !== undefined) return underWay;
    const renewal = this.#claimAndRenew(signInId, current).finally(() => {
      this.#underWay.delete(signInId);
    });
    this.#underWay.set(signInId, renewal);
    return renewal;
  }

  async #claimAndRenew(signInId: string, current: CurrentSettings): Promise<Session | null> {
    const { signIns } = this.#options.stores;
    const deadline = performance.now() + MAX_WAIT_MS;
    for (;;) {
      const claim = await signIns.claimRenewal(signInId, LEASE_SECONDS);
      if (claim === null) return null;
      if (claim.kind === 'resting') {
        throw unavailable('the identity provider could not be used a moment ago');
      }
      if (claim.kind === 'claimed') {
        const { claimId } = claim;
        return withLease(signIns, { key: signInId, claimId }, (extend) =>
          this.#renew(claim, extend, current),
        );
      }
      if (performance.now() > deadline) {
        throw unavailable('another request has been renewing the session for too long');
      }
      await wait(POLL_INTERVAL_MS);
    }
  }

  async #renew(
    claimed: VersionedSignIn,
    extend: ExtendLease,
    current: CurrentSettings,
  ): Promise<Session | null> {
    // Another renewal may have finished between the look-up and the claim.
    const live = await this.#liveSession(claimed);
    if (live !== null) return live;
    try {
      return await renewSession(claimed, extend, current, this.#options);
    } catch (error) {
      if (!(error instanceof StaleSignInError)) throw error;
      return this.#sessionOfAnother(claimed.signIn.id);
    }
  }

  async #sessionOfAnother(signInId: string): Promise<Session | null> {
    const found = await this.#options.stores.signIns.get(signInId);
    if (found === null) return null;
    const session = await this.#liveSession(found);
    if (session !== null) return session;
    throw unavailable('another request is renewing the session');
  }
}

function unavailable(message: string): UnavailableError {
  return new UnavailableError('identity-provider-unavailable', message, {
    retryAfterSeconds: REST_SECONDS,
  });
}
