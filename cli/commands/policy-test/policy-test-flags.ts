import type { CommandLine } from '../../arguments.ts';
import { DEV_ALLOW_LOOPBACK } from '../../flags/dev-allow-loopback.ts';

/** Flags of `gatehouse policy test`. */
export const POLICY_TEST_LINE: CommandLine = {
  name: 'policy test',
  summary: 'Check what the gateway decides about the requests of test cases',
  operands: {
    value: 'FILE...',
    description: 'Each FILE has cases in YAML, and names the manifests that they are about.',
  },
  flags: { 'dev-allow-loopback': DEV_ALLOW_LOOPBACK },
};
