import type { CommandLine } from '../arguments.ts';

/** Flags of commands that end something. */
export const REVOKE_FLAGS = {
  yes: { kind: 'switch', short: 'y', description: 'Do not ask.' },
  operator: {
    kind: 'text',
    environment: 'GATEHOUSE_OPERATOR',
    value: 'NAME',
    description: 'Who you are, for the audit log. Defaults to the user of this process.',
  },
} satisfies CommandLine['flags'];
