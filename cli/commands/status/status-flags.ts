import type { CommandLine } from '../../arguments.ts';
import { outputFlag } from '../../cluster/output.ts';
import { CLUSTER_FLAGS, NAMESPACE_FLAGS } from '../../flags/cluster-flags.ts';

/** The forms of the output of `gatehouse status`. */
export const STATUS_FORMS = ['json', 'yaml'] as const;

/** Flags of `gatehouse status`. */
export const STATUS_LINE: CommandLine = {
  name: 'status',
  summary: 'Show the state of a gateway in a cluster, problems first',
  flags: {
    ...NAMESPACE_FLAGS,
    namespace: {
      ...NAMESPACE_FLAGS.namespace,
      description: 'Only Routes of this namespace. Defaults to all that you may read.',
    },
    output: outputFlag(STATUS_FORMS),
    ...CLUSTER_FLAGS,
  },
};
