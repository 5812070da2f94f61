import type { CommandLine } from '../../arguments.ts';
import { CLUSTER_FLAGS, NAMESPACE_FLAGS } from '../../flags/cluster-flags.ts';
import { DEV_ALLOW_LOOPBACK } from '../../flags/dev-allow-loopback.ts';

/** Flags of `gatehouse doctor`. */
export const DOCTOR_LINE: CommandLine = {
  name: 'doctor',
  summary: 'Check that users can connect to an upstream, or clients to a route',
  operands: {
    value: 'URL|ROUTE',
    description: 'The URL of an MCP server, or a Route as [NAMESPACE/]NAME.',
  },
  flags: {
    file: {
      kind: 'list',
      short: 'f',
      value: 'FILE|DIR',
      description: 'Manifests or plain YAML with the Route and the settings.',
    },
    ...NAMESPACE_FLAGS,
    ...CLUSTER_FLAGS,
    'dev-allow-loopback': DEV_ALLOW_LOOPBACK,
  },
};
