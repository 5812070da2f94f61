import { hashToken } from '../../../crypto/tokens.ts';
import type { RedisCommands } from '../connection/redis-commands.ts';

/** Kinds of keys in Redis. SCHEMA.md has a row for each. */
export const KEY_KINDS = [
  'authorization-code',
  'browser-session',
  'browser-sessions',
  'client',
  'connection-need',
  'consent',
  'grant',
  'internal-token',
  'internal-token-renewal',
  'pending-authorization',
  'pending-connection',
  'pending-sign-in',
  'rate-limit',
  'refresh-family',
  'refresh-grace',
  'replay',
  'revoked-family',
  'revoked-grant',
  'revoked-token',
  'session',
  'sign-in',
  'sign-in-code',
  'sign-in-renewal',
  'snapshot',
  'step-up',
  'upstream-registration',
  'user-connections',
  'user-grants',
  'user-sign-ins',
] as const;

/** A kind of key in Redis. */
export type KeyKind = (typeof KEY_KINDS)[number];

/**
 * Returns the whole key of a record.
 *
 * The id is the hash tag: in a Redis Cluster all keys of one id are in one slot, so that one script
 * can use several of them.
 */
export function keyOf({ prefix }: RedisCommands, kind: KeyKind, id: string): string {
  return `${prefix}${kind}:{${id}}`;
}

/** Returns the pattern of all keys of a kind. Prefixes have no character that means something in a pattern. */
export function keyPattern({ prefix }: RedisCommands, kind: KeyKind): string {
  return `${prefix}${kind}:{*}`;
}

/** Returns the id in a whole key; undefined if the key is not of this kind. */
export function idOfKey({ prefix }: RedisCommands, kind: KeyKind, key: string): string | undefined {
  const start = `${prefix}${kind}:{`;
  return key.startsWith(start) && key.endsWith('}') ? key.slice(start.length, -1) : undefined;
}

/** Returns an id that does not show its parts, such as an address or a user's subject. */
export function hashedId(...parts: readonly (string | readonly string[])[]): string {
  return hashToken(JSON.stringify(parts));
}

/** Converts a lifetime for Redis, which refuses 0. */
export function milliseconds(seconds: number): number {
  return Math.max(1, Math.ceil(seconds * 1000));
}
