import { createPrivateKey, randomUUID, sign, type KeyObject } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import type { CompiledSigningKeys } from '../../../shared/snapshot/snapshot.ts';
import { BoundedMap } from '../../cache/bounded-map.ts';
import type { Identity, UserSession } from '../../records/session.ts';

const SECOND = 1000;

/** How long an upstream may accept an assertion. */
const LIFETIME_SECONDS = 300;

/**
 * How long an assertion is reused before the next is signed: a random time between the two. Those of many users
 * that were signed together would else all be due together, and their requests would wait for each other.
 */
const MIN_REUSE_MS = 45 * SECOND;
const MAX_REUSE_MS = 60 * SECOND;

/** Pairs of a session and a host with requests within the last minute. */
const MAX_ASSERTIONS = 20_000;

/** Keys in use, and keys that a snapshot has just replaced. */
const MAX_SIGNERS = 8;

interface Assertion {
  readonly token: string;
  /** The claims about the user. */
  readonly user: object;
  readonly signer: Signer;
  readonly routeOrigin: string;
  readonly reusableUntil: number;
}

interface Signer {
  readonly key: KeyObject;
  readonly keyId: string;
  /** Null if the algorithm hashes by itself. */
  readonly digest: string | null;
  /** The protected header, encoded. */
  readonly header: string;
  readonly assertions: BoundedMap<string, Assertion>;
}

/** Options of an `AssertionSigner`. */
export interface AssertionSignerOptions {
  /** Keys where the settings name none. */
  readonly defaultKeys: CompiledSigningKeys;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
}

/**
 * Signs `X-Gateway-Assertion` (specification: Identity assertion): who the user is, in a JWT that
 * upstreams verify with the keys at `/.gateway/jwks.json` of the route's own host.
 */
export class AssertionSigner {
  /** By the private key: a later snapshot with the same keys reuses their assertions. */
  readonly #signers = new BoundedMap<string, Signer>(MAX_SIGNERS);
  /** The last one of each session: nearly every session is used on one host. */
  readonly #latest = new WeakMap<UserSession, Assertion>();
  readonly #defaultKeys: CompiledSigningKeys;
  readonly #now: () => number;
  readonly #random: () => number;

  constructor({ defaultKeys, now, random }: AssertionSignerOptions) {
    this.#defaultKeys = defaultKeys;
    this.#now = now;
    this.#random = random;
  }

  /**
   * Returns the assertion about the user of a session for the upstreams of one host. The first of the keys
   * signs, about once a minute.
   *
   * Decision D-145: signs in this thread, which takes less than half the CPU time of a thread pool.
   */
  assertionFor(
    session: UserSession,
    routeOrigin: string,
    configuredKeys: CompiledSigningKeys | undefined,
  ): string {
    const now = this.#now();
    const signer = this.#signerOf(configuredKeys ?? this.#defaultKeys);
    const latest = this.#latest.get(session);
    const isReusable =
      latest?.signer === signer && latest.routeOrigin === routeOrigin && latest.reusableUntil > now;
    if (isReusable) return latest.token;
    const assertion = this.#assertionOf(session, routeOrigin, signer, now);
    this.#latest.set(session, assertion);
    return assertion.token;
  }

  /**
   * Returns an assertion that was signed within the last minute, or signs one. The user of a session can change
   * while its id stays: an opaque token has the groups that its provider named last.
   */
  #assertionOf(session: UserSession, routeOrigin: string, signer: Signer, now: number): Assertion {
    const name = `${routeOrigin} ${session.id}`;
    const user = userClaims(session.identity);
    const known = signer.assertions.get(name);
    const isReusable = known !== undefined && known.reusableUntil > now;
    if (isReusable && isDeepStrictEqual(known.user, user)) return known;
    const token = signToken(claimsOf(user, routeOrigin, now), signer);
    const reuseMs = MIN_REUSE_MS + this.#random() * (MAX_REUSE_MS - MIN_REUSE_MS);
    const assertion = { token, user, signer, routeOrigin, reusableUntil: now + reuseMs };
    signer.assertions.set(name, assertion);
    return assertion;
  }

  #signerOf({ keys: [first] }: CompiledSigningKeys): Signer {
    if (first === undefined) throw new Error('there is no key to sign assertions with');
    const { keyId, algorithm, privateKey } = first;
    const known = this.#signers.get(privateKey);
    if (known?.keyId === keyId) return known;
    const signer: Signer = {
      key: createPrivateKey(privateKey),
      keyId,
      digest: algorithm === 'EdDSA' ? null : 'sha256',
      header: encode({ alg: algorithm, typ: 'JWT', kid: keyId }),
      assertions: new BoundedMap<string, Assertion>(MAX_ASSERTIONS),
    };
    this.#signers.set(privateKey, signer);
    return signer;
  }
}

/** Unknown attributes of the user are left out; `groups` is always a list (specification). */
function userClaims({ issuer, subject, email, name, groups }: Identity): object {
  return {
    sub: subject,
    // Subjects are unique within one issuer only, and a gateway can have several.
    ...(issuer === undefined ? {} : { idp: issuer }),
    ...(email === undefined ? {} : { email }),
    groups,
    ...(name === undefined ? {} : { name }),
  };
}

function claimsOf(user: object, routeOrigin: string, now: number): object {
  const issuedAt = Math.floor(now / SECOND);
  return {
    iss: routeOrigin,
    aud: new URL(routeOrigin).host,
    ...user,
    iat: issuedAt,
    exp: issuedAt + LIFETIME_SECONDS,
    jti: randomUUID(),
  };
}

/** Makes a JWT in compact form (RFC 7515, section 7.1). */
function signToken(claims: object, { key, digest, header }: Signer): string {
  const input = `${header}.${encode(claims)}`;
  // RFC 7518, section 3.4: an ES256 signature is not in DER. Other algorithms ignore the option.
  const signature = sign(digest, Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
