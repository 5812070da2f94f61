import { createPrivateKey, randomUUID, type KeyObject } from 'node:crypto';

import { SignJWT, type JWTPayload } from 'jose';

import type { CompiledSigningKeys } from '../../../shared/snapshot/snapshot.ts';
import { BoundedMap } from '../../cache/bounded-map.ts';
import type { Session } from '../../records/session.ts';

const SECOND = 1000;

/** How long an upstream may accept an assertion. */
const LIFETIME_SECONDS = 300;

/** How long an assertion is reused before the next is signed. */
const REUSE_MS = 60 * SECOND;

/** Pairs of a session and a host with requests within the last minute. */
const MAX_ASSERTIONS = 20_000;

/** Keys in use, and keys that a snapshot has just replaced. */
const MAX_SIGNERS = 8;

interface Assertion {
  /** A promise until it is signed: concurrent requests share it. */
  token: string | Promise<string>;
  readonly reusableUntil: number;
}

interface Signer {
  readonly key: KeyObject;
  readonly keyId: string;
  readonly algorithm: string;
  readonly assertions: BoundedMap<string, Assertion>;
}

/** Options of an `AssertionSigner`. */
export interface AssertionSignerOptions {
  /** Keys where the settings name none. */
  readonly defaultKeys: CompiledSigningKeys;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Signs `X-Gateway-Assertion` (specification: Identity assertion): who the user is, in a JWT that
 * upstreams verify with the keys at `/.gateway/jwks.json` of the route's own host.
 */
export class AssertionSigner {
  /** By the private key: a later snapshot with the same keys reuses their assertions. */
  readonly #signers = new BoundedMap<string, Signer>(MAX_SIGNERS);
  readonly #defaultKeys: CompiledSigningKeys;
  readonly #now: () => number;

  constructor({ defaultKeys, now }: AssertionSignerOptions) {
    this.#defaultKeys = defaultKeys;
    this.#now = now;
  }

  /**
   * Returns the assertion about the user of a session for the upstreams of one host; without a promise if
   * it was signed within the last minute. The first of the keys signs.
   */
  assertionFor(
    session: Session,
    routeOrigin: string,
    configuredKeys: CompiledSigningKeys | undefined,
  ): string | Promise<string> {
    const now = this.#now();
    const signer = this.#signerOf(configuredKeys ?? this.#defaultKeys);
    const name = `${routeOrigin} ${session.id}`;
    const known = signer.assertions.get(name);
    if (known !== undefined && known.reusableUntil > now) return known.token;
    const token = sign(claimsOf(session, routeOrigin, now), signer);
    const assertion: Assertion = { token, reusableUntil: now + REUSE_MS };
    signer.assertions.set(name, assertion);
    return replaceBySigned(assertion, token).catch((error: unknown) => {
      signer.assertions.delete(name);
      throw error;
    });
  }

  #signerOf({ keys: [first] }: CompiledSigningKeys): Signer {
    if (first === undefined) throw new Error('there is no key to sign assertions with');
    const { keyId, algorithm, privateKey } = first;
    const known = this.#signers.get(privateKey);
    if (known?.keyId === keyId) return known;
    const key = createPrivateKey(privateKey);
    const signer = {
      key,
      keyId,
      algorithm,
      assertions: new BoundedMap<string, Assertion>(MAX_ASSERTIONS),
    };
    this.#signers.set(privateKey, signer);
    return signer;
  }
}

async function replaceBySigned(assertion: Assertion, token: Promise<string>): Promise<string> {
  return (assertion.token = await token);
}

/** Unknown attributes of the user are left out; `groups` is always a list (specification). */
function claimsOf({ identity }: Session, routeOrigin: string, now: number): JWTPayload {
  const { subject, email, name, groups } = identity;
  const issuedAt = Math.floor(now / SECOND);
  return {
    iss: routeOrigin,
    aud: new URL(routeOrigin).host,
    sub: subject,
    ...(email === undefined ? {} : { email }),
    groups,
    ...(name === undefined ? {} : { name }),
    iat: issuedAt,
    exp: issuedAt + LIFETIME_SECONDS,
    jti: randomUUID(),
  };
}

function sign(claims: JWTPayload, { key, keyId, algorithm }: Signer): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid: keyId })
    .sign(key);
}
