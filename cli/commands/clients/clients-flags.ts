import type { CommandLine } from '../../arguments.ts';
import { outputFlag } from '../../cluster/output.ts';
import { STATE_FLAGS } from '../../flags/state-flags.ts';
import { USER_FLAGS } from '../../flags/user-flags.ts';
import { REVOKE_FLAGS } from '../../sessions/operator-flags.ts';
import { LIMIT, LIST_FORMS } from '../sessions/sessions-flags.ts';

/** Flags of `gatehouse clients list`. */
export const CLIENTS_LIST_LINE: CommandLine = {
  name: 'clients list',
  summary: 'List the clients of users, and those that registered themselves',
  flags: { ...USER_FLAGS, limit: LIMIT, output: outputFlag(LIST_FORMS), ...STATE_FLAGS },
};

/** Flags of `gatehouse clients revoke`. */
export const CLIENTS_REVOKE_LINE: CommandLine = {
  name: 'clients revoke',
  summary: 'End clients for all users, with their registrations; or for some users',
  operands: { value: 'CLIENT...', description: 'Ids of `gatehouse clients list`.' },
  flags: { ...USER_FLAGS, ...REVOKE_FLAGS, ...STATE_FLAGS },
};
