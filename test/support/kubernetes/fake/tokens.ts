import { generateKeyPairSync, randomUUID } from 'node:crypto';

import { jwtVerify, SignJWT, type JWTPayload } from 'jose';

import { objectAt, textAt } from './field-reading.ts';
import type { Json, JsonObject } from './json.ts';
import { PODS, SERVICE_ACCOUNTS } from './resource-definitions.ts';
import type { Store } from './store.ts';

/** Audience and issuer of the API server. */
export const API_AUDIENCE = 'https://kubernetes.default.svc';
/** Path of the keys that verify tokens. */
export const KEY_SET_PATH = '/openid/v1/jwks';
const SIGNATURE_ALGORITHM = 'ES256';
const KEY_ID = 'the-only-key';
const SECOND = 1_000;

/** The user of a request. */
export interface User {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** ServiceAccount, pod and audiences of a token. */
export interface TokenClaims {
  readonly namespace: string;
  readonly serviceAccount: { readonly name: string; readonly uid: string };
  readonly pod: { readonly name: string; readonly uid: string } | undefined;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
}

/** A valid token, and those of the wanted audiences that it has. */
export interface Authenticated {
  readonly user: User;
  readonly audiences: readonly string[];
}

/** Tokens of ServiceAccounts, valid while the ServiceAccount and the pod they are bound to exist. */
export class ServiceAccountTokens {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  /** Signatures are checked once for each token. */
  readonly #verified = new Map<string, JWTPayload>();

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  async issue(claims: TokenClaims): Promise<string> {
    const { namespace, serviceAccount, pod, audiences, expirationSeconds } = claims;
    const issuedAt = Math.floor(this.#now() / SECOND);
    return await new SignJWT({
      'kubernetes.io': { namespace, serviceaccount: serviceAccount, ...(pod && { pod }) },
    })
      .setProtectedHeader({ alg: SIGNATURE_ALGORITHM, kid: KEY_ID })
      .setIssuer(API_AUDIENCE)
      .setSubject(usernameOf(namespace, serviceAccount.name))
      .setAudience([...audiences])
      .setIssuedAt(issuedAt)
      .setNotBefore(issuedAt)
      .setExpirationTime(issuedAt + expirationSeconds)
      .setJti(randomUUID())
      .sign(this.#keys.privateKey);
  }

  /** Answers what the API server says about its tokens; undefined for any other path. */
  documentAt(path: string): JsonObject | undefined {
    if (path === '/.well-known/openid-configuration') {
      return { issuer: API_AUDIENCE, jwks_uri: `${API_AUDIENCE}${KEY_SET_PATH}` };
    }
    if (path !== KEY_SET_PATH) return undefined;
    // A public key of this kind has these members.
    const { kty, crv, x, y } = this.#keys.publicKey.export({ format: 'jwk' }) as JsonObject;
    const key = { use: 'sig', alg: SIGNATURE_ALGORITHM, kid: KEY_ID };
    return { keys: [{ ...key, ...{ kty, crv, x, y } }] };
  }

  /** Rejects with the reason if the token is not valid for any of the audiences. */
  async authenticate(token: string, audiences: readonly string[]): Promise<Authenticated> {
    const payload = await this.#verify(token);
    if (payload.exp === undefined || payload.exp * SECOND <= this.#now()) {
      throw new Error('service account token has expired');
    }
    const tokenAudiences = [payload.aud ?? []].flat();
    const common = audiences.filter((audience) => tokenAudiences.includes(audience));
    if (common.length === 0) {
      throw new Error(
        `token audiences ${JSON.stringify(tokenAudiences)} is invalid for the target audiences ${JSON.stringify(audiences)}`,
      );
    }
    return { user: this.#userOf(payload), audiences: common };
  }

  async #verify(token: string): Promise<JWTPayload> {
    const known = this.#verified.get(token);
    if (known !== undefined) return known;
    // The clock of the API server decides about expiry, at each review.
    const { payload } = await jwtVerify(token, this.#keys.publicKey, {
      issuer: API_AUDIENCE,
      algorithms: [SIGNATURE_ALGORITHM],
      currentDate: new Date(this.#now()),
    });
    this.#verified.set(token, payload);
    return payload;
  }

  #userOf(payload: JWTPayload): User {
    // Only this class writes the claims.
    const claims = payload['kubernetes.io'] as Json;
    const namespace = textAt(claims, 'namespace');
    const account = objectAt(claims, 'serviceaccount');
    const name = textAt(account, 'name');
    const uid = textAt(account, 'uid');
    this.#assertExists('service account', {
      uid,
      object: this.#find(SERVICE_ACCOUNTS, namespace, name),
    });
    const pod = objectAt(claims, 'pod');
    const podName = textAt(pod, 'name');
    const podUid = textAt(pod, 'uid');
    if (podName !== '') {
      this.#assertExists('pod', { uid: podUid, object: this.#find(PODS, namespace, podName) });
    }
    return {
      username: usernameOf(namespace, name),
      uid,
      groups: [
        'system:serviceaccounts',
        `system:serviceaccounts:${namespace}`,
        'system:authenticated',
      ],
      extra:
        podName === ''
          ? {}
          : {
              'authentication.kubernetes.io/pod-name': [podName],
              'authentication.kubernetes.io/pod-uid': [podUid],
            },
    };
  }

  #find(definition: typeof PODS, namespace: string, name: string): string | undefined {
    return this.#store.collection(definition).get(namespace, name)?.object.metadata.uid;
  }

  #assertExists(
    what: string,
    { uid, object }: { readonly uid: string; readonly object: string | undefined },
  ): void {
    if (object !== uid) throw new Error(`${what} of the service account token has been deleted`);
  }
}

export function usernameOf(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}
