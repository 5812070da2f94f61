import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

import type { GatewaySettings } from '../../crds/types.ts';
import type { CompiledSigningKeys } from '../../shared/snapshot/snapshot.ts';
import { memberPath } from '../validate/field-path.ts';
import { all, andThen, made, invalid, type CompileResult } from './compile-result.ts';
import { resolveSecret } from './resolve-secret.ts';
import { resourceName, type Secrets } from './resources.ts';

type SigningKey = CompiledSigningKeys['keys'][number];

const PATH = 'spec.signingKeyRefs';
const MIN_RSA_BITS = 2_048;

/** Reads the keys that sign the identity assertion; undefined if the settings name none. */
export function compileSigningKeys(
  settings: GatewaySettings,
  secrets: Secrets,
): CompileResult<CompiledSigningKeys | undefined> {
  const { signingKeyRefs: refs = [] } = settings.spec;
  if (refs.length === 0) return made(undefined);
  const [namespace = ''] = resourceName(settings).split('/');
  const keys = refs.map((ref, index) => {
    const path = memberPath(PATH, index);
    const text = resolveSecret(ref, { namespace, path, secrets });
    return andThen(text, (pem) => readKey(pem, ref.keyId, path));
  });
  return andThen(all(keys), (list) => {
    const repeated = list.findIndex(({ keyId }, index) =>
      list.slice(0, index).some((other) => other.keyId === keyId),
    );
    if (repeated === -1) return made({ kind: 'signing-keys', keys: list });
    const message = 'has the same key ID as an earlier key';
    return invalid(memberPath(PATH, repeated), 'UnsupportedValue', message);
  });
}

function readKey(pem: string, keyId: string | undefined, path: string): CompileResult<SigningKey> {
  const key = privateKeyOf(pem);
  if (key === undefined) {
    const message = 'must refer to a private key in PEM (PKCS #8 or SEC 1), not encrypted';
    return invalid(path, 'InvalidSecret', message);
  }
  const algorithm = algorithmOf(key);
  if (algorithm === undefined) {
    const message = 'must refer to an EC P-256, RSA (at least 2048 bits) or Ed25519 key';
    return invalid(path, 'InvalidSecret', message);
  }
  const privateKey = key.export({ type: 'pkcs8', format: 'pem' });
  return made({ keyId: keyId ?? thumbprint(key), algorithm, privateKey });
}

/** Error messages of OpenSSL are dropped: they may quote the key. */
function privateKeyOf(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

function algorithmOf(key: KeyObject): SigningKey['algorithm'] | undefined {
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  const type = key.asymmetricKeyType;
  if (type === 'ec' && namedCurve === 'prime256v1') return 'ES256';
  if (type === 'rsa' && modulusLength >= MIN_RSA_BITS) return 'RS256';
  return type === 'ed25519' ? 'EdDSA' : undefined;
}

/** JWK thumbprint (RFC 7638, section 3): equal keys have equal IDs everywhere. */
function thumbprint(key: KeyObject): string {
  const { crv, e, kty, n, x, y } = createPublicKey(key).export({ format: 'jwk' });
  // Only the required members, in the order of their names; JSON omits undefined ones.
  const canonical = JSON.stringify({ crv, e, kty, n, x, y });
  return createHash('sha256').update(canonical).digest('base64url');
}
