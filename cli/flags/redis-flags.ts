import type { Arguments, Flag } from '../arguments.ts';
import { UsageError } from '../usage-error.ts';

/** The URL of Redis, or the file that contains it. */
export interface RedisSource {
  readonly kind: 'url' | 'file';
  readonly value: string;
}

/** Returns the flags for the URL of Redis. */
export function redisFlags(description: string): Readonly<Record<string, Flag>> {
  return {
    'redis-url': {
      kind: 'text',
      environment: 'GATEHOUSE_REDIS_URL',
      value: 'URL',
      description,
    },
    'redis-url-file': {
      kind: 'text',
      environment: 'GATEHOUSE_REDIS_URL_FILE',
      value: 'FILE',
      description: 'The same, from a file: a flag shows its password in the list of processes.',
    },
  };
}

/** Reads these flags; undefined if none is given. Throws `UsageError` if both are given. */
export function readRedisFlags(flags: Arguments): RedisSource | undefined {
  const url = flags.text('redis-url');
  const file = flags.text('redis-url-file');
  if (url !== undefined && file !== undefined) {
    throw new UsageError('--redis-url and --redis-url-file (or their variables): give one of them');
  }
  if (url !== undefined) return { kind: 'url', value: url };
  return file === undefined ? undefined : { kind: 'file', value: file };
}
