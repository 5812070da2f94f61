import { ExpiringMap } from '../cache/expiring-map.ts';
import { SharedMap } from '../cache/shared-map.ts';
import { sizeInMemory } from '../cache/size-in-memory.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { holdsGatewayToken } from '../crypto/gateway-token.ts';
import { hashToken, type TokenHash } from '../crypto/tokens.ts';
import { networksOf } from '../http/network-of.ts';
import { TokenRefusedError, type TokenRefusal } from '../token-verification/token-refused-error.ts';
import type { TokenVerifier } from '../token-verification/token-verifier.ts';
import { readUnverifiedJwt } from '../token-verification/unverified-jwt.ts';
import type { VerifiedToken } from '../token-verification/verified-token.ts';
import type { TokenUse } from './accepted-credentials.ts';
import { isBearerToken } from './bearer-token.ts';
import type { TokenCaller } from './caller.ts';
import { VerificationLimit } from './verification-limit.ts';

const SECOND = 1000;

/** Attack: whoever may have many tokens of a provider, as anybody at a public CI system, fills the memory. */
const MAX_ACCEPTED_BYTES = 64 * 1024 * 1024;

const MAX_REFUSED = 10_000;

/** How long a refusal is remembered: short, since a key or a token can become known or valid. */
const REFUSED_SECONDS = 10;

/** Above the length of the tokens of large providers, and below what a head may have. */
const MAX_TOKEN_LENGTH = 8_192;

/** Where a token was sent. */
export interface TokenContext {
  readonly configuration: Pick<Configuration, 'settings' | 'identityProviders'>;
  /** Address of the client. */
  readonly remoteAddress: string;
}

/** Options of `VerifiedTokens`. */
export interface VerifiedTokensOptions {
  readonly verifier: Pick<TokenVerifier, 'verify'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface Accepted {
  readonly caller: TokenCaller;
  readonly verifiedAt: number;
  readonly verified: VerifiedToken;
  /** The providers by which it was verified. */
  readonly providers: Configuration['identityProviders'];
}

interface Refused {
  readonly reason: TokenRefusal;
  readonly providers: Configuration['identityProviders'];
}

interface Verification {
  readonly caller: Promise<TokenCaller>;
  readonly providers: Configuration['identityProviders'];
}

/**
 * The tokens of identity providers that were verified, and the sessions made from them.
 *
 * An accepted token costs no I/O and no promise until it expires, the provider's word on it is old, or the
 * providers change. A refused one is refused again for some seconds without asking. Requests with one token
 * share a verification. What cannot be verified now is not remembered.
 */
export class VerifiedTokens {
  readonly #verifier: VerifiedTokensOptions['verifier'];
  readonly #now: () => number;
  readonly #limit: VerificationLimit;
  /** By use and token, shared between networks. Decision D-156: not by a hash. */
  readonly #accepted: SharedMap<Accepted>;
  /** By the hash of use and token: bad tokens are many and long. */
  readonly #refused: ExpiringMap<Refused>;
  readonly #underWay = new Map<string, Verification>();

  constructor({ verifier, now }: VerifiedTokensOptions) {
    this.#verifier = verifier;
    this.#now = now;
    this.#limit = new VerificationLimit(now);
    this.#accepted = new SharedMap(now, MAX_ACCEPTED_BYTES);
    this.#refused = new ExpiringMap(now, MAX_REFUSED);
  }

  /**
   * Returns the caller that a token identifies; without a promise while it is known. `sent` is what
   * followed `Bearer`.
   *
   * Throws or rejects with a `TokenRefusedError` if it is not valid for this use, with an
   * `UnavailableError` if its provider cannot be asked, and with a `TooManyRequestsError` if too many
   * tokens of the network were refused.
   */
  callerOf(sent: string, use: TokenUse, context: TokenContext): TokenCaller | Promise<TokenCaller> {
    const key = `${use.key} ${sent}`;
    const known = this.#accepted.get(key);
    if (known !== null && this.#counts(known, context)) return known.caller;
    if (sent.length > MAX_TOKEN_LENGTH) throw new TokenRefusedError('token-too-long');
    // Attack: a provider that is asked about the gateway's own token could act as its user on an MCP route.
    if (!isBearerToken(sent) || holdsGatewayToken(sent)) {
      throw new TokenRefusedError('malformed-token');
    }
    return this.#verifyOnce(key, sent, use, context);
  }

  #counts({ verified, verifiedAt, providers }: Accepted, { configuration }: TokenContext): boolean {
    const now = this.#now();
    if (providers !== configuration.identityProviders) return false;
    // A clock that was set back must not extend the life of a token.
    if (now < verifiedAt) return false;
    const { opaqueTokenSeconds } = configuration.settings;
    return !verified.isOpaque || now < verifiedAt + opaqueTokenSeconds * SECOND;
  }

  #verifyOnce(
    key: string,
    token: string,
    use: TokenUse,
    context: TokenContext,
  ): Promise<TokenCaller> {
    const { identityProviders: providers } = context.configuration;
    const underWay = this.#underWay.get(key);
    if (underWay?.providers === providers) return underWay.caller;
    const caller = this.#verify(key, token, use, context).finally(() => {
      if (this.#underWay.get(key) === verification) this.#underWay.delete(key);
    });
    const verification = { caller, providers };
    this.#underWay.set(key, verification);
    return caller;
  }

  async #verify(
    key: string,
    token: string,
    use: TokenUse,
    { configuration: { identityProviders: providers }, remoteAddress }: TokenContext,
  ): Promise<TokenCaller> {
    const hash = hashToken(key);
    const refused = this.#refused.get(hash);
    if (refused?.providers === providers) throw new TokenRefusedError(refused.reason);
    const networks = networksOf(remoteAddress);
    const asksAboutIt = asksProvider(token, use);
    const verifiedAt = this.#now();
    try {
      const verify = (): Promise<VerifiedToken> => this.#verifier.verify(token, use, providers);
      const verified = await (asksAboutIt ? this.#limit.run(use.key, networks, verify) : verify());
      const caller = callerWith(verified, hash);
      const accepted = { caller, verified, verifiedAt, providers };
      this.#accepted.set(key, accepted, {
        owner: networks.endSite,
        size: sizeInMemory([key, verified.identity]),
        ttlSeconds: (Math.min(verified.expiresAt, verified.countsUntil) - verifiedAt) / SECOND,
      });
      return caller;
    } catch (error) {
      if (error instanceof TokenRefusedError) {
        // Attack: a longer `opaqueTokenLifetime` would revive a token that was revoked meanwhile.
        this.#accepted.delete(key);
        this.#refused.set(hash, { reason: error.reason, providers }, REFUSED_SECONDS);
        if (asksAboutIt) this.#limit.countRefusal(use.key, networks);
      }
      throw error;
    }
  }
}

/** Returns whether the provider is asked about a token before it can be refused. */
function asksProvider(token: string, { format }: TokenUse): boolean {
  return format === 'idp_access_token' && readUnverifiedJwt(token) === null;
}

/**
 * Returns the caller with a verified token. The same token makes the same session (specification: Bearer
 * token format rules), which is in no store.
 */
function callerWith({ identity, expiresAt }: VerifiedToken, hash: TokenHash): TokenCaller {
  const session = { id: `token-${hash}`, identity, expiresAt };
  return { kind: 'user', session, via: 'bearer-token' };
}
