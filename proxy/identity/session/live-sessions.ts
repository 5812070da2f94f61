import { inSpan } from '../../../shared/telemetry/tracing/active-trace.ts';
import { UnavailableError } from '../../errors/unavailable-error.ts';
import type { VersionedSignIn } from '../../store/sign-in-store.ts';
import {
  renewSession,
  StaleSignInError,
  type CurrentSettings,
  type RenewalOptions,
} from './renew-session.ts';
import { type CannotRenew, renewInTurn } from '../../store/renew-in-turn.ts';
import { type ExtendLease, REST_SECONDS } from '../../store/renewal-lease.ts';
import type { RenewalOutcome } from '../../telemetry/metrics/access-metrics.ts';
import type { Session } from '../../records/session.ts';

const CANNOT_RENEW: Readonly<Record<CannotRenew, string>> = {
  busy: 'another request has been renewing the session for too long',
  resting: 'the identity provider could not be used a moment ago',
};

/**
 * Returns the live session of a sign-in, renewed if it has expired (specification: States and
 * transitions). Null if the user must sign in again; rejects with an `UnavailableError` if that cannot be
 * decided at present.
 */
export type SessionOfSignIn = (
  signInId: string,
  current: CurrentSettings,
) => Promise<Session | null>;

/** Options of `LiveSessions`. */
export interface LiveSessionOptions extends RenewalOptions {
  /** Gets the outcome of every renewal, for metrics. */
  readonly onRenewal?: ((outcome: RenewalOutcome) => void) | undefined;
}

/**
 * Finds the live sessions of sign-ins, and renews expired ones with the provider's refresh token.
 *
 * Only one proxy uses that token at a time, since many providers accept each refresh token only once. A
 * request during a renewal waits for the new session.
 */
export class LiveSessions {
  readonly #options: LiveSessionOptions;
  /** Renewals by sign-in: the requests of this process share one. */
  readonly #underWay = new Map<string, Promise<Session | null>>();

  constructor(options: LiveSessionOptions) {
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
    const renewal = this.#measured(this.#claimAndRenew(signInId, current)).finally(() => {
      this.#underWay.delete(signInId);
    });
    this.#underWay.set(signInId, renewal);
    return renewal;
  }

  async #measured(renewal: Promise<Session | null>): Promise<Session | null> {
    let outcome: RenewalOutcome = 'failed';
    try {
      const session = await renewal;
      outcome = session === null ? 'ended' : 'renewed';
      return session;
    } finally {
      this.#options.onRenewal?.(outcome);
    }
  }

  #claimAndRenew(signInId: string, current: CurrentSettings): Promise<Session | null> {
    return inSpan('session renewal', 'internal', {}, () =>
      renewInTurn(this.#options.stores.signIns, signInId, {
        renew: (claimed, extend) => this.#renew(claimed, extend, current),
        unavailable: (why) => unavailable(CANNOT_RENEW[why]),
      }),
    );
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
