import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type JWTVerifyOptions,
  type JWTVerifyResult,
} from 'jose';

import { hashToken } from '../../crypto/tokens.ts';
import { InvalidClientError } from '../../errors/oauth-errors.ts';
import { limitRate } from '../../endpoints/limit-rate.ts';
import type { RateLimitStore, ReplayStore } from '../../store/rate-limit-store.ts';
import type { ReadClientKeys, ClientKeysSettings } from './client-keys.ts';
import type { Client, ClientKeySet } from '../../records/client.ts';

/** Algorithms of client assertions; for `token_endpoint_auth_signing_alg_values_supported`. */
export const CLIENT_ASSERTION_ALGORITHMS: readonly string[] = [
  'RS256',
  'PS256',
  'ES256',
  'EdDSA',
  'Ed25519',
];

const MAX_LIFETIME_SECONDS = 10 * 60;
const CLOCK_SKEW_SECONDS = 30;
const MAX_ID_LENGTH = 256;
const SECOND = 1000;

/** If no cached key verifies the assertion, keys that are older than this are fetched again. */
const KEY_RETRY_SECONDS = 60;

/**
 * Limit per client, so that one cannot fill the store of used ids. Only valid assertions count, so that
 * nobody can use up the limit of another client. All attempts count for the network that they come from.
 */
const ASSERTIONS = { limit: 300, windowSeconds: 60 };

/** Types that a client assertion may have. A token of another type is meant for something else. */
const TYPES: readonly unknown[] = [undefined, 'JWT', 'client-authentication+jwt'];

/** A client assertion, and the values that it must match. */
export interface ClientAssertion {
  readonly assertion: string;
  readonly client: Client;
  readonly issuer: string;
  readonly tokenEndpointUrl: string;
  readonly settings: ClientKeysSettings;
  /** Called before a signature is verified; throws `TooManyRequestsError` after too many attempts. */
  readonly beforeVerifying: BeforeVerifying;
}

/** Counts an attempt to authenticate by an assertion. */
export type BeforeVerifying = () => Promise<void>;

/** Options of `acceptClientAssertion`. */
export interface ClientAssertionOptions {
  readonly readClientKeys: ReadClientKeys;
  readonly replays: ReplayStore;
  readonly rateLimits: RateLimitStore;
  readonly now: () => number;
}

/** Returns the client ID that an assertion claims, unverified. */
export function claimedClientId(assertion: string): string {
  try {
    const { sub } = decodeJwt<{ sub: unknown }>(assertion);
    if (typeof sub === 'string') return sub;
  } catch {
    // Not a JWT: refused below, like a JWT without a subject.
  }
  throw new InvalidClientError('the client assertion names no client');
}

/**
 * Accepts a client's assertion once: signed by a key of the client, from and about the client, for
 * this authorization server, and short-lived.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc7523#section-3 RFC 7523, section 3}
 */
export async function acceptClientAssertion(
  claim: ClientAssertion,
  options: ClientAssertionOptions,
): Promise<void> {
  const { client, issuer, tokenEndpointUrl, beforeVerifying } = claim;
  // Attack: verifying takes time, so nobody may cause it at will.
  await beforeVerifying();
  const token = await verify(claim, options, {
    algorithms: [...CLIENT_ASSERTION_ALGORITHMS],
    issuer: client.id,
    subject: client.id,
    audience: [issuer, tokenEndpointUrl],
    requiredClaims: ['exp', 'jti'],
    clockTolerance: CLOCK_SKEW_SECONDS,
    currentDate: new Date(options.now()),
  });
  await useOnce(token, claim, options);
}

async function verify(
  { assertion, client, settings }: ClientAssertion,
  { readClientKeys }: ClientAssertionOptions,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  const keys = await readClientKeys(client.metadata, settings);
  try {
    return await verifyWith(keys, assertion, options);
  } catch (error) {
    if (!mayBeKeyChange(error)) throw refused(error);
    // Attack: fetching the keys anew each time would let strangers make the gateway fetch at will.
    const newer = await readClientKeys(client.metadata, settings, {
      maxAgeSeconds: KEY_RETRY_SECONDS,
    });
    if (newer === keys) throw refused(error);
    return await verifyWith(newer, assertion, options).catch((failure: unknown) => {
      throw refused(failure);
    });
  }
}

/** Verifies by one key at most: of several, by the one that the assertion names. */
async function verifyWith(
  { keys }: ClientKeySet,
  assertion: string,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  if (keys.length > 1 && decodeProtectedHeader(assertion).kid === undefined) {
    throw new errors.JWKSMultipleMatchingKeys(
      'the assertion has no kid, and there are several keys',
    );
  }
  return await jwtVerify(assertion, createLocalJWKSet({ keys: [...keys] }), options);
}

function mayBeKeyChange(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWSSignatureVerificationFailed
  );
}

/** Checks what jose does not check: the type, a single audience, the lifetime, and `jti`. */
async function useOnce(
  { payload, protectedHeader }: JWTVerifyResult,
  { client, issuer }: ClientAssertion,
  { replays, rateLimits, now }: ClientAssertionOptions,
): Promise<void> {
  if (!TYPES.includes(protectedHeader.typ)) throw refused('type');
  // Attack: one of several audiences could present the assertion to another (RFC 7523bis, section 3).
  if (Array.isArray(payload.aud) && payload.aud.length !== 1) throw refused('audience');
  const { exp = 0, jti = '' } = payload;
  const secondsLeft = Math.ceil(exp - now() / SECOND);
  if (secondsLeft > MAX_LIFETIME_SECONDS + CLOCK_SKEW_SECONDS) throw refused('life');
  if (typeof jti !== 'string' || jti === '' || jti.length > MAX_ID_LENGTH) throw refused('jti');
  // Hashed, because a client ID may be a long URL.
  const owner = hashToken(JSON.stringify([issuer, client.id]));
  await limitRate(rateLimits, `assertion-of:${owner}`, ASSERTIONS);
  const isFirst = await replays.claim(owner, hashToken(jti), secondsLeft + CLOCK_SKEW_SECONDS);
  if (!isFirst) throw refused('replay');
}

/** Returns an error that hides the reason from the client; the log has it as the cause. */
function refused(cause: unknown): InvalidClientError {
  return new InvalidClientError('the client assertion is not acceptable', { cause });
}
