import { InvalidClientMetadataError } from '../../errors/oauth-errors.ts';
import type { JsonObject } from '../../json/json-object.ts';
import type { ClientKeySet } from '../../records/client.ts';
import { isRecord } from '../../../shared/runtime/is-record.ts';

const MAX_KEYS = 10;

/** Members of private and symmetric keys (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1). */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

/** Members of public keys that verify signatures (RFC 7517, section 4; RFC 7518, section 6). */
const PUBLIC_MEMBERS = ['kty', 'use', 'alg', 'kid', 'crv', 'x', 'y', 'n', 'e'];

/** The modulus of an RSA key of 8192 bits has 1366 characters. */
const MAX_MEMBER_LENGTH = 2048;

const MAX_OPERATIONS = 8;

/**
 * Reads the public keys of a client; throws `InvalidClientMetadataError`.
 *
 * Only the members that verify signatures are kept, because strangers could fill memory with others. A
 * private key is refused, not stripped: it is public now, and its owner should know.
 */
export function parseClientKeySet(value: unknown): ClientKeySet {
  const keys = isRecord(value) ? value['keys'] : undefined;
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > MAX_KEYS) {
    throw new InvalidClientMetadataError(`jwks must be a key set of 1 to ${String(MAX_KEYS)} keys`);
  }
  return { keys: keys.map(parsePublicKey) };
}

function parsePublicKey(key: unknown): JsonObject {
  if (!isRecord(key) || typeof key['kty'] !== 'string') throw noKey();
  if (PRIVATE_MEMBERS.some((member) => member in key)) {
    throw new InvalidClientMetadataError('jwks has a private key');
  }
  const members = PUBLIC_MEMBERS.filter((member) => key[member] !== undefined);
  if (!members.every((member) => isShortText(key[member]))) throw noKey();
  const kept = Object.fromEntries(members.map((member) => [member, key[member]]));
  const operations = key['key_ops'];
  return operations === undefined ? kept : { ...kept, key_ops: parseOperations(operations) };
}

function parseOperations(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length > MAX_OPERATIONS || !value.every(isShortText)) {
    throw noKey();
  }
  return value;
}

function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_MEMBER_LENGTH;
}

function noKey(): InvalidClientMetadataError {
  return new InvalidClientMetadataError('jwks has a member that is not a key');
}
