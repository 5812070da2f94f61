import { InvalidClientMetadataError } from '../../errors/oauth-errors.ts';
import type { ClientKeySet } from '../../records/client.ts';
import { isRecord } from '../../../shared/runtime/is-record.ts';
import { parseClientKey, type PublicKey } from './parse-client-key.ts';

const MAX_KEYS = 10;

/**
 * Reads the public keys of a client; throws `InvalidClientMetadataError`.
 *
 * Of several keys each has a `kid` of its own, by which an assertion selects it: without one the gateway
 * would have to try them all.
 */
export function parseClientKeySet(value: unknown): ClientKeySet {
  const members = isRecord(value) ? value['keys'] : undefined;
  if (!Array.isArray(members) || members.length === 0 || members.length > MAX_KEYS) {
    throw new InvalidClientMetadataError(`jwks must be a key set of 1 to ${String(MAX_KEYS)} keys`);
  }
  const keys = members
    .map((member: unknown, index) => parseClientKey(member, `jwks.keys[${String(index)}]`))
    .filter((key) => key !== null);
  if (keys.length === 0) {
    throw new InvalidClientMetadataError('jwks has no key that verifies client assertions');
  }
  checkIds(keys);
  return { keys };
}

function checkIds(keys: readonly PublicKey[]): void {
  if (keys.length === 1) return;
  const ids = keys.map(({ kid }) => kid);
  if (ids.includes(undefined)) {
    throw new InvalidClientMetadataError('jwks has several keys, and one of them has no kid');
  }
  if (new Set(ids).size < ids.length) {
    throw new InvalidClientMetadataError('jwks has two keys with the same kid');
  }
}
