import type { Arguments, Flag } from '../arguments.ts';
import { UsageError } from '../usage-error.ts';

/** Where the URL of Redis is. */
export interface RedisSource {
  readonly kind: 'url' | 'file';
  readonly value: string;
}

/** Flags that say where Redis is. */
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

/** Reads those flags; undefined when none is given. Throws `UsageError` when both are. */
export function readRedisFlags(flags: Arguments): RedisSource | undefined {
  const url = flags.text('redis-url');
  const file = flags.text('redis-url-file');
  if (url !== undefined && file !== undefined) {
    throw new UsageError('--redis-url and --redis-url-file (or their variables): give one of them');
  }
  if (url !== undefined) return { kind: 'url', value: url };
  return file === undefined ? undefined : { kind: 'file', value: file };
}
