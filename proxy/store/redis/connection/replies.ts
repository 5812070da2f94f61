import { StoreUnavailableError } from '../../store-unavailable-error.ts';
import type { RedisReply } from './redis-commands.ts';

/** Returns a reply that must be a string or absent. */
export function textReply(reply: RedisReply): string | null {
  if (reply === null || typeof reply === 'string') return reply;
  throw unexpected(reply);
}

/** Returns a reply that must be an integer. */
export function integerReply(reply: RedisReply): number {
  if (typeof reply === 'number') return reply;
  throw unexpected(reply);
}

/** Returns a reply that must be a list of strings. */
export function textsReply(reply: RedisReply): readonly string[] {
  if (isList(reply) && reply.every((element) => typeof element === 'string')) return reply;
  throw unexpected(reply);
}

function isList(reply: RedisReply): reply is readonly RedisReply[] {
  return Array.isArray(reply);
}

/** Names only the type, because the reply may be a record. */
function unexpected(reply: RedisReply): StoreUnavailableError {
  return new StoreUnavailableError(`Redis answered with an unexpected ${typeof reply}`);
}
