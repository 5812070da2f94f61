import { InvalidClientMetadataError } from '../../errors/oauth-errors.ts';
import { isJsonObject, type JsonObject } from '../../mcp/json-object.ts';
import type { ClientKeySet } from './client.ts';

const MAX_KEYS = 10;

/** Members of private and symmetric keys (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1). */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

/**
 * Reads the public keys of a client; throws `InvalidClientMetadataError`.
 *
 * A private key is refused, not stripped: it is public now, and its owner should know.
 */
export function parseClientKeySet(value: unknown): ClientKeySet {
  const keys = isJsonObject(value) ? value['keys'] : undefined;
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > MAX_KEYS) {
    throw new InvalidClientMetadataError(`jwks must be a key set of 1 to ${String(MAX_KEYS)} keys`);
  }
  return { keys: keys.map(parsePublicKey) };
}

function parsePublicKey(key: unknown): JsonObject {
  if (!isJsonObject(key) || typeof key['kty'] !== 'string') {
    throw new InvalidClientMetadataError('jwks has a member that is no key');
  }
  if (PRIVATE_MEMBERS.some((member) => member in key)) {
    throw new InvalidClientMetadataError('jwks has a private key');
  }
  return key;
}
