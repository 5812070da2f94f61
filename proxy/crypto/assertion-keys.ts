import { createECDH, createHash, createPrivateKey, type webcrypto } from 'node:crypto';

import { deriveBytes, type SealingKey, type SealingKeys } from './sealing-key.ts';
import type { CompiledSigningKeys } from '../../shared/snapshot/snapshot.ts';

const PURPOSE = 'gatehouse assertion key';

const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const SCALAR_BYTES = 32;

/** FIPS 186-5, appendix A.4.1: more bits than the order has, so that no scalar is likelier. */
const SEED_BYTES = 48;

/**
 * Derives the keys that sign assertions if the settings name none, one from each sealing key.
 * Proxies with the same sealing keys therefore sign with the same key, and publish all of them.
 */
export function deriveAssertionKeys(sealingKeys: SealingKeys): CompiledSigningKeys {
  return { kind: 'signing-keys', keys: sealingKeys.map(assertionKey) };
}

function assertionKey(sealingKey: SealingKey): CompiledSigningKeys['keys'][number] {
  const { x, y, d } = p256KeyOf(deriveBytes(sealingKey, PURPOSE, SEED_BYTES));
  // RFC 7638, section 3.2: the members that an EC key must have, in lexicographic order.
  const publicKey = { crv: 'P-256', kty: 'EC', x, y };
  const keyId = createHash('sha256').update(JSON.stringify(publicKey)).digest('base64url');
  return { keyId, algorithm: 'ES256', privateKey: pemOf({ ...publicKey, d }) };
}

/** FIPS 186-5, appendices A.2.1 and A.4.1: a scalar by modular reduction, and its point. */
function p256KeyOf(seed: Buffer): { readonly x: string; readonly y: string; readonly d: string } {
  const scalar = (BigInt(`0x${seed.toString('hex')}`) % (P256_ORDER - 1n)) + 1n;
  const d = Buffer.from(scalar.toString(16).padStart(2 * SCALAR_BYTES, '0'), 'hex');
  const exchange = createECDH('prime256v1');
  exchange.setPrivateKey(d);
  // An uncompressed point (SEC 1, section 2.3.3): a marker byte, x, y.
  const point = exchange.getPublicKey();
  return {
    x: point.toString('base64url', 1, 1 + SCALAR_BYTES),
    y: point.toString('base64url', 1 + SCALAR_BYTES),
    d: d.toString('base64url'),
  };
}

function pemOf(key: webcrypto.JsonWebKey): string {
  return createPrivateKey({ key, format: 'jwk' }).export({ type: 'pkcs8', format: 'pem' });
}
