import { createPublicKey } from 'node:crypto';

import { InvalidClientMetadataError } from '../../errors/oauth-errors.ts';
import { isRecord } from '../../../shared/runtime/is-record.ts';

/** A public key of a client, as a JWK. */
export type PublicKey = Readonly<Record<string, unknown>>;

/** Members of private and symmetric keys (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1). */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

/** Members that describe a key (RFC 7517, section 4). */
const COMMON_MEMBERS = ['kty', 'use', 'alg', 'kid'];

const MAX_TEXT_LENGTH = 256;
const MAX_OPERATIONS = 8;

/** Twice the length of the longest modulus in base64url, so that the error can say how long a key is. */
const MAX_NUMBER_LENGTH = 1366;

const MIN_MODULUS_BITS = 2048;
const MAX_MODULUS_BITS = 4096;

/** The usual exponent, 65537, has 17 bits. A long one makes each verification take a thousand times longer. */
const MAX_EXPONENT_BITS = 33;

const POINT_BYTES = 32;

/** What the keys of one kind must be. */
interface KeyKind {
  readonly algorithms: readonly string[];
  /** The members that make up the key (RFC 7518, section 6; RFC 8037, section 2). */
  readonly members: readonly string[];
  /** Returns what is wrong with these members; undefined if nothing is. */
  readonly problemOf: (key: PublicKey) => string | undefined;
}

/** By key type, and curve where there are several. */
const KINDS: Readonly<Record<string, KeyKind>> = {
  RSA: { algorithms: ['RS256', 'PS256'], members: ['n', 'e'], problemOf: problemOfRsaKey },
  'EC P-256': { algorithms: ['ES256'], members: ['crv', 'x', 'y'], problemOf: problemOfPoint },
  'OKP Ed25519': {
    algorithms: ['EdDSA', 'Ed25519'],
    members: ['crv', 'x'],
    problemOf: problemOfPoint,
  },
};

/**
 * Reads a public key; null if it cannot verify client assertions: it is of another kind, or for another use
 * (RFC 7517, section 5: such keys are ignored).
 *
 * Throws `InvalidClientMetadataError` if it is malformed, weak, costly, or private. Only the members that
 * verify signatures are kept, because strangers could fill memory with others.
 */
export function parseClientKey(value: unknown, place: string): PublicKey | null {
  if (!isRecord(value) || typeof value['kty'] !== 'string') throw invalid(place, 'is not a key');
  // Refused, not stripped: the key is public now, and its owner should know.
  if (PRIVATE_MEMBERS.some((member) => member in value)) throw invalid(place, 'is a private key');
  for (const member of COMMON_MEMBERS) {
    if (!isOptionalText(value[member])) throw invalid(place, `has an unusable ${member}`);
  }
  if (!isOptionalList(value['key_ops'])) throw invalid(place, 'has an unusable key_ops');
  const kind = kindOf(value);
  if (kind === undefined) return null;
  const problem = kind.problemOf(value) ?? problemOfImport(value);
  if (problem !== undefined) throw invalid(place, problem);
  const kept = [...COMMON_MEMBERS, 'key_ops', ...kind.members].filter(
    (member) => value[member] !== undefined,
  );
  return Object.fromEntries(kept.map((member) => [member, value[member]]));
}

/** Returns the kind of a key that may verify client assertions. */
function kindOf(key: PublicKey): KeyKind | undefined {
  const { kty, crv, use = 'sig', alg, key_ops: operations = ['verify'] } = key;
  const kind = KINDS[kty === 'RSA' ? 'RSA' : `${String(kty)} ${String(crv)}`];
  if (kind === undefined || use !== 'sig') return undefined;
  if (alg !== undefined && !kind.algorithms.some((algorithm) => algorithm === alg))
    return undefined;
  return Array.isArray(operations) && operations.includes('verify') ? kind : undefined;
}

/** RFC 7518, section 6.3.1: modulus and exponent are unsigned numbers in base64url. */
function problemOfRsaKey({ n, e }: PublicKey): string | undefined {
  const modulus = numberOf(n);
  const exponent = numberOf(e);
  if (modulus === undefined) return 'has an unusable n';
  if (exponent === undefined) return 'has an unusable e';
  const bits = bitsOf(modulus);
  if (bits < MIN_MODULUS_BITS || bits > MAX_MODULUS_BITS) {
    return `has ${String(bits)} bits; RSA keys have ${String(MIN_MODULUS_BITS)} to ${String(MAX_MODULUS_BITS)}`;
  }
  // Attack: with the exponent 1 everybody can sign. An even one has no private key.
  if (exponent < 3n || !isOdd(exponent) || !isOdd(modulus)) return 'is not an RSA key';
  // Attack: a client that verifies slowly keeps the gateway busy.
  if (bitsOf(exponent) > MAX_EXPONENT_BITS) {
    return `has an exponent of more than ${String(MAX_EXPONENT_BITS)} bits`;
  }
  return undefined;
}

function isOdd(number: bigint): boolean {
  return number % 2n === 1n;
}

function bitsOf(number: bigint): number {
  return number.toString(2).length;
}

function numberOf(value: unknown): bigint | undefined {
  const bytes = bytesOf(value);
  return bytes === undefined ? undefined : BigInt(`0x${bytes.toString('hex')}`);
}

/** RFC 7518, section 6.2.1.2, and RFC 8037, section 2: coordinates have their full length. */
function problemOfPoint({ kty, x, y }: PublicKey): string | undefined {
  if (bytesOf(x)?.length !== POINT_BYTES) return 'has an unusable x';
  if (kty === 'EC' && bytesOf(y)?.length !== POINT_BYTES) return 'has an unusable y';
  return undefined;
}

/** Refuses a point that is not on its curve. */
function problemOfImport(key: PublicKey): string | undefined {
  try {
    createPublicKey({ key, format: 'jwk' });
    return undefined;
  } catch {
    return 'is not a key';
  }
}

/** Returns the bytes of a text in base64url, in its one spelling; undefined for anything else. */
function bytesOf(value: unknown): Buffer | undefined {
  if (typeof value !== 'string' || value === '' || value.length > MAX_NUMBER_LENGTH) {
    return undefined;
  }
  const bytes = Buffer.from(value, 'base64url');
  return bytes.toString('base64url') === value ? bytes : undefined;
}

function isOptionalList(value: unknown): boolean {
  if (value === undefined) return true;
  return Array.isArray(value) && value.length <= MAX_OPERATIONS && value.every(isOptionalText);
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && value.length <= MAX_TEXT_LENGTH);
}

function invalid(place: string, problem: string): InvalidClientMetadataError {
  return new InvalidClientMetadataError(`${place} ${problem}`);
}
