import type { Arguments, CommandLine } from '../arguments.ts';
import { UsageError } from '../usage-error.ts';
import { readRedisFlags, redisFlags, type RedisSource } from './redis-flags.ts';

/** Flags of commands that read and change the state of a gateway: its own, and its own variables. */
export const STATE_FLAGS: CommandLine['flags'] = {
  ...redisFlags('Where the gateway keeps its state. Required.'),
  'sealing-keys-dir': {
    kind: 'text',
    environment: 'GATEHOUSE_SEALING_KEYS_DIR',
    value: 'DIR',
    description: 'Keys of the gateway, one per file. This or --state-dir is required.',
  },
  'state-dir': {
    kind: 'text',
    environment: 'GATEHOUSE_STATE_DIR',
    value: 'DIR',
    description: 'State directory of `gatehouse run`, which has its keys.',
  },
};

/** Where the state of a gateway is, and the keys that open it. */
export interface StateSource {
  readonly redis: RedisSource;
  readonly keys: { readonly kind: 'keys' | 'state'; readonly directory: string };
}

/** Reads `STATE_FLAGS`. Throws `UsageError`. */
export function readStateFlags(flags: Arguments): StateSource {
  const redis = readRedisFlags(flags);
  if (redis === undefined) {
    throw new UsageError(
      '--redis-url or --redis-url-file is required: a gateway without Redis keeps its sessions in its own memory, where no other process reaches them; they end with it',
    );
  }
  const directory = flags.text('sealing-keys-dir');
  if (directory !== undefined) return { redis, keys: { kind: 'keys', directory } };
  const state = flags.text('state-dir');
  if (state !== undefined) return { redis, keys: { kind: 'state', directory: state } };
  throw new UsageError(
    '--sealing-keys-dir or --state-dir is required: what the gateway keeps in Redis is sealed with its keys',
  );
}
