import type { Command } from './command.ts';
import { CONTROLLER_LINE } from './commands/controller/controller-flags.ts';
import { DOCTOR_LINE } from './commands/doctor/doctor-flags.ts';
import { EXPLAIN_LINE } from './commands/explain/explain-flags.ts';
import { POLICY_TEST_LINE } from './commands/policy-test/policy-test-flags.ts';
import { PROXY_LINE } from './commands/proxy/proxy-flags.ts';
import { RUN_LINE } from './commands/run/run-flags.ts';
import { VALIDATE_LINE } from './commands/validate/validate-flags.ts';
import { DEMO_LINE } from './demo/demo-flags.ts';

/** The commands of `gatehouse`, in the order of its help. */
export const COMMANDS: readonly Command[] = [
  { line: RUN_LINE, load: async () => (await import('./commands/run.ts')).runStandalone },
  {
    line: CONTROLLER_LINE,
    load: async () => (await import('./commands/controller.ts')).runController,
  },
  { line: PROXY_LINE, load: async () => (await import('./commands/proxy.ts')).runProxy },
  { line: VALIDATE_LINE, load: async () => (await import('./commands/validate.ts')).runValidate },
  { line: EXPLAIN_LINE, load: async () => (await import('./commands/explain.ts')).runExplain },
  { line: DOCTOR_LINE, load: async () => (await import('./commands/doctor.ts')).runDoctor },
  {
    line: POLICY_TEST_LINE,
    load: async () => (await import('./commands/policy-test.ts')).runPolicyTest,
  },
  // The demo needs development dependencies, which an installation does not have.
  { line: DEMO_LINE, load: async () => (await import('./demo/demo.ts')).runDemo },
];
