import type { Revocation } from '../../revocations.ts';
import { isRecord } from '../../../../shared/runtime/is-record.ts';

/** A revocation as a message to the other proxies. */
export interface RevocationMessage {
  /** Id of the publishing proxy, which ignores its own messages. */
  readonly publisher: string;
  readonly revocation: Revocation;
}

/** Formats a message for the channel. */
export function formatRevocationMessage(message: RevocationMessage): string {
  return JSON.stringify(message);
}

/** Parses a message; undefined if it is not a revocation. */
export function parseRevocationMessage(text: string): RevocationMessage | undefined {
  const message = parseJson(text);
  if (!isRecord(message)) return undefined;
  const { publisher, revocation, ...others } = message;
  if (typeof publisher !== 'string' || Object.keys(others).length > 0) return undefined;
  const known = revocationOf(revocation);
  return known && { publisher, revocation: known };
}

function revocationOf(value: unknown): Revocation | undefined {
  if (!isRecord(value)) return undefined;
  const { kind, ...members } = value;
  switch (kind) {
    case 'missed':
      return Object.keys(members).length === 0 ? { kind } : undefined;
    case 'session':
    case 'browser': {
      const sessionId = onlyMember(members, 'sessionId');
      return sessionId === undefined ? undefined : { kind, sessionId };
    }
    case 'grant': {
      const grantId = onlyMember(members, 'grantId');
      return grantId === undefined ? undefined : { kind, grantId };
    }
    case 'token': {
      const tokenId = onlyMember(members, 'tokenId');
      return tokenId === undefined ? undefined : { kind, tokenId };
    }
    case 'internal-token': {
      const keyHash = onlyMember(members, 'keyHash');
      return keyHash === undefined ? undefined : { kind, keyHash };
    }
    default:
      return undefined;
  }
}

function onlyMember(members: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const { [name]: value, ...others } = members;
  return typeof value === 'string' && Object.keys(others).length === 0 ? value : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
