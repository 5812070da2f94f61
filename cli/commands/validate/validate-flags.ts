import type { CommandLine } from '../../arguments.ts';
import { DEV_ALLOW_LOOPBACK } from '../../flags/dev-allow-loopback.ts';

/** Flags of `gatehouse validate`. */
export const VALIDATE_LINE: CommandLine = {
  name: 'validate',
  summary: 'Print every problem of a configuration',
  flags: {
    file: {
      kind: 'text',
      short: 'f',
      value: 'FILE|DIR',
      description: 'Manifests or plain YAML, for `gatehouse run --config` or for a cluster.',
      isRequired: true,
    },
    'dev-allow-loopback': DEV_ALLOW_LOOPBACK,
  },
};
