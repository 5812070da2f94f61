import type { Arguments, CommandLine } from '../../arguments.ts';
import { outputFlag } from '../../cluster/output.ts';
import { STATE_FLAGS } from '../../flags/state-flags.ts';
import { USER_FLAGS } from '../../flags/user-flags.ts';
import { REVOKE_FLAGS } from '../../sessions/operator-flags.ts';
import { UsageError } from '../../usage-error.ts';

/** The form of lists besides tables. */
export const LIST_FORMS = ['json'] as const;

const MOST_ROWS = 10_000;

/** The flag for the length of a list. */
export const LIMIT = {
  kind: 'text',
  defaultValue: '500',
  value: 'NUMBER',
  description: 'At most so many rows.',
} satisfies CommandLine['flags'][string];

/** Reads `LIMIT`. Throws `UsageError`. */
export function readLimit(flags: Arguments): number {
  const text = flags.text('limit') ?? '';
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MOST_ROWS) return limit;
  throw new UsageError(`--limit is a number from 1 to ${String(MOST_ROWS)}, not "${text}"`);
}

/** Flags of `gatehouse sessions list`. */
export const SESSIONS_LIST_LINE: CommandLine = {
  name: 'sessions list',
  summary: 'List who is signed in, and the clients that they approved',
  flags: {
    ...USER_FLAGS,
    limit: LIMIT,
    after: { kind: 'text', value: 'ID', description: 'Only rows after this one: the next page.' },
    output: outputFlag(LIST_FORMS),
    ...STATE_FLAGS,
  },
};

/** Flags of `gatehouse sessions revoke`. */
export const SESSIONS_REVOKE_LINE: CommandLine = {
  name: 'sessions revoke',
  summary: 'End sessions by their ids, or everything of a user',
  operands: {
    value: 'ID...',
    description: 'Ids of `gatehouse sessions list`, in place of --email or --user.',
    isOptional: true,
  },
  flags: { ...USER_FLAGS, ...REVOKE_FLAGS, ...STATE_FLAGS },
};
