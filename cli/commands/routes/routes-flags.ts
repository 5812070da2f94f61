import type { CommandLine } from '../../arguments.ts';
import { outputFlag } from '../../cluster/output.ts';
import { CLUSTER_FLAGS, NAMESPACE_FLAGS } from '../../flags/cluster-flags.ts';

/** The forms of the output of `gatehouse routes`. */
export const ROUTES_FORMS = ['wide', 'json', 'yaml'] as const;

/** Flags of `gatehouse routes`. */
export const ROUTES_LINE: CommandLine = {
  name: 'routes',
  summary: 'List Routes of a cluster, and why they do not serve',
  flags: {
    ...NAMESPACE_FLAGS,
    host: {
      kind: 'text',
      value: 'NAME',
      description: 'Only Routes that have this host, or a wildcard for it.',
    },
    problems: { kind: 'switch', description: 'Only Routes with a problem.' },
    output: outputFlag(ROUTES_FORMS),
    ...CLUSTER_FLAGS,
  },
};
