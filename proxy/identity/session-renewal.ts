import { setTimeout as wait } from 'node:timers/promises';

import type { Logger } from '../../shared/process/logger.ts';
import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import { randomToken } from '../crypto/tokens.ts';
import { UnavailableError } from '../errors/unavailable-error.ts';
import type { Configuration } from '../server/configuration.ts';
import type { SignIn, VersionedSignIn } from '../store/sign-in-store.ts';
import { StoreUnavailableError } from '../store/store-unavailable-error.ts';
import type { Stores } from '../store/stores.ts';
import { createSession } from './create-session.ts';
import { endSignIn } from './end-sign-in.ts';
import type { ProviderDiscovery } from './provider-discovery.ts';
import { REST_SECONDS } from './provider-failure.ts';
import { refreshIdentity } from './refresh-identity.ts';
import type { Session } from './session.ts';

/** Longer than the requests of a renewal may take together: discovery, token, keys and userinfo. */
const LEASE_SECONDS = 60;

/** How long a request waits for a renewal by another proxy. */
const POLL_INTERVAL = 100;
const MAX_POLLS = 200;

/** How long a store that is away is asked to keep what the provider gave. */
const KEEP_INTERVAL = 250;
const MAX_KEEP_ATTEMPTS = 20;

type Current = Pick<Configuration, 'identityProvider' | 'settings'>;

/**
 * The live session of a sign-in, made anew when it has expired (specification: States and
 * transitions). Null when the user must sign in again; rejects with an `UnavailableError` when that
 * cannot be said at the moment.
 */
export type SessionOfSignIn = (signInId: string, current: Current) => Promise<Session | null>;

export interface SessionRenewalDependencies {
  readonly stores: Pick<Stores, 'signIns' | 'sessions' | 'revocations'>;
  readonly discovery: ProviderDiscovery;
  readonly logger: Logger;
  readonly now: () => number;
}

/** The sign-in is not at the version any more that was read: somebody else renewed or ended it. */
class StaleSignInError extends Error {
  override readonly name = 'StaleSignInError';
}

/**
 * Makes new sessions of sign-ins whose session has expired, with the provider's refresh token.
 *
 * That token has one holder at a time over all proxies, for many providers take each one once. Who
 * finds a renewal under way waits for its session.
 */
export class SessionRenewal {
  readonly #dependencies: SessionRenewalDependencies;
  /** By sign-in: requests to this process share one. */
  readonly #underWay = new Map<string, Promise<Session | null>>();

  constructor(dependencies: SessionRenewalDependencies) {
    this.#dependencies = dependencies;
  }

  /** See `SessionOfSignIn`. */
  async sessionOf(signInId: string, current: Current): Promise<Session | null> {
    const found = await this.#dependencies.stores.signIns.get(signInId);
    if (found === null) return null;
    return (await this.#liveSession(found.signIn)) ?? this.#renewOnce(signInId, current);
  }

  async #liveSession({ sessionId }: SignIn): Promise<Session | null> {
    const { stores, now } = this.#dependencies;
    const session = await stores.sessions.get(sessionId);
    return session !== null && session.expiresAt > now() ? session : null;
  }

  #renewOnce(signInId: string, current: Current): Promise<Session | null> {
    const underWay = this.#underWay.get(signInId);
    if (underWay !== undefined) return underWay;
    const renewal = this.#claimAndRenew(signInId, current).finally(() => {
      this.#underWay.delete(signInId);
    });
    this.#underWay.set(signInId, renewal);
    return renewal;
  }

  async #claimAndRenew(signInId: string, current: Current): Promise<Session | null> {
    const { signIns } = this.#dependencies.stores;
    for (let polls = 0; polls < MAX_POLLS; polls += 1) {
      const claim = await signIns.claimRenewal(signInId, LEASE_SECONDS);
      switch (claim?.kind) {
        case 'claimed':
          return this.#renewAndRelease(claim, claim.claimId, current);
        case 'resting':
          throw unavailable('the identity provider could not be used a moment ago');
        case undefined:
          return null;
        case 'busy': {
          await wait(POLL_INTERVAL);
          const found = await signIns.get(signInId);
          if (found === null) return null;
          const session = await this.#liveSession(found.signIn);
          if (session !== null) return session;
        }
      }
    }
    throw unavailable('another request has been renewing the session for too long');
  }

  async #renewAndRelease(
    claimed: VersionedSignIn,
    claimId: string,
    current: Current,
  ): Promise<Session | null> {
    const { signIns } = this.#dependencies.stores;
    let restSeconds = REST_SECONDS;
    try {
      const session = await this.#renew(claimed, current);
      restSeconds = 0;
      return session;
    } finally {
      await signIns.releaseRenewal(claimed.signIn.id, claimId, restSeconds);
    }
  }

  async #renew(claimed: VersionedSignIn, current: Current): Promise<Session | null> {
    const { signIn } = claimed;
    // Between our look and our claim another one may have been done with it.
    const live = await this.#liveSession(signIn);
    if (live !== null) return live;
    const { identityProvider: provider } = current;
    const { refreshToken } = signIn;
    if (provider === undefined || !isFrom(signIn, provider)) {
      return this.#log('session not renewed', signIn, 'other-provider');
    }
    if (refreshToken === undefined) {
      return this.#log('session not renewed', signIn, 'no-refresh-token');
    }
    try {
      return await this.#renewWith({ ...signIn, refreshToken }, claimed.version, {
        ...current,
        provider,
      });
    } catch (error) {
      if (!(error instanceof StaleSignInError)) throw error;
      return this.#sessionOfAnother(signIn.id);
    }
  }

  async #renewWith(
    signIn: SignIn & { readonly refreshToken: string },
    version: number,
    { provider, settings }: Current & { readonly provider: CompiledIdentityProvider },
  ): Promise<Session | null> {
    const { stores, discovery } = this.#dependencies;
    let held: VersionedSignIn = { signIn, version };
    const refresh = await refreshIdentity(provider, discovery, signIn, async (refreshToken) => {
      held = await this.#keep({ ...signIn, refreshToken }, version);
    });
    if (refresh.kind === 'over') {
      // Another holder may have used the token, and what it got in its place is good.
      if (!(await endSignIn(held, stores))) throw new StaleSignInError();
      return this.#log('sign-in ended', signIn, refresh.reason);
    }
    return this.#putSession({ ...held.signIn, identity: refresh.identity }, held.version, settings);
  }

  /** The provider may never give it again, nor take the one before: worth more than one attempt. */
  async #keep(signIn: SignIn, version: number): Promise<VersionedSignIn> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#update(signIn, version);
      } catch (error) {
        const isAway = error instanceof StoreUnavailableError;
        if (!isAway || attempt === MAX_KEEP_ATTEMPTS) throw error;
        await wait(KEEP_INTERVAL);
      }
    }
  }

  async #putSession(
    signIn: SignIn,
    version: number,
    settings: Current['settings'],
  ): Promise<Session> {
    const { stores } = this.#dependencies;
    const { id: signInId, identity } = signIn;
    await stores.signIns.extend(signInId, settings.cookie.expirationSeconds);
    const id = randomToken();
    const session = await createSession({ id, signInId, identity }, settings, this.#dependencies);
    await this.#update({ ...signIn, sessionId: id }, version).catch(async (error: unknown) => {
      await stores.sessions.revoke(id);
      throw error;
    });
    this.#log('session renewed', signIn);
    return session;
  }

  async #update(signIn: SignIn, version: number): Promise<VersionedSignIn> {
    const next = await this.#dependencies.stores.signIns.update(signIn, version);
    if (next === null) throw new StaleSignInError();
    return { signIn, version: next };
  }

  async #sessionOfAnother(signInId: string): Promise<Session | null> {
    const found = await this.#dependencies.stores.signIns.get(signInId);
    if (found === null) return null;
    const session = await this.#liveSession(found.signIn);
    if (session !== null) return session;
    throw unavailable('another request is renewing the session');
  }

  #log(message: string, { id, identity: { subject, provider } }: SignIn, reason?: string): null {
    const { logger } = this.#dependencies;
    const fields = { 'sign-in-id': id, user: subject, provider };
    logger.info(message, reason === undefined ? fields : { reason, ...fields });
    return null;
  }
}

/** A refresh token goes to whom it came from, and nowhere else. */
function isFrom(
  { provider: { name, issuer, clientId } }: SignIn,
  current: CompiledIdentityProvider,
): boolean {
  return name === current.name && issuer === current.issuer && clientId === current.clientId;
}

function unavailable(message: string): UnavailableError {
  return new UnavailableError('identity-provider-unavailable', message, {
    retryAfterSeconds: REST_SECONDS,
  });
}
