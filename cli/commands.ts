import type { Command } from './command.ts';
import { CLIENTS_LIST_LINE, CLIENTS_REVOKE_LINE } from './commands/clients/clients-flags.ts';
import { CONTROLLER_LINE } from './commands/controller/controller-flags.ts';
import { CREATE_SECRETS_LINE } from './commands/create-secrets/create-secrets-flags.ts';
import { DOCTOR_LINE } from './commands/doctor/doctor-flags.ts';
import { EXPLAIN_LINE } from './commands/explain/explain-flags.ts';
import { POLICY_TEST_LINE } from './commands/policy-test/policy-test-flags.ts';
import { PROXY_LINE } from './commands/proxy/proxy-flags.ts';
import { ROUTES_LINE } from './commands/routes/routes-flags.ts';
import { RUN_LINE } from './commands/run/run-flags.ts';
import { SESSIONS_LIST_LINE, SESSIONS_REVOKE_LINE } from './commands/sessions/sessions-flags.ts';
import { STATUS_LINE } from './commands/status/status-flags.ts';
import { TEST_INSTALL_LINE } from './commands/test-install/test-install-flags.ts';
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
  {
    line: CREATE_SECRETS_LINE,
    load: async () => (await import('./commands/create-secrets.ts')).runCreateSecrets,
    isForClusters: true,
  },
  {
    line: VALIDATE_LINE,
    load: async () => (await import('./commands/validate.ts')).runValidate,
    isForClusters: true,
  },
  {
    line: EXPLAIN_LINE,
    load: async () => (await import('./commands/explain.ts')).runExplain,
    isForClusters: true,
  },
  {
    line: DOCTOR_LINE,
    load: async () => (await import('./commands/doctor.ts')).runDoctor,
    isForClusters: true,
  },
  {
    line: POLICY_TEST_LINE,
    load: async () => (await import('./commands/policy-test.ts')).runPolicyTest,
  },
  {
    line: STATUS_LINE,
    load: async () => (await import('./commands/status.ts')).runStatus,
    isForClusters: true,
  },
  {
    line: ROUTES_LINE,
    load: async () => (await import('./commands/routes.ts')).runRoutes,
    isForClusters: true,
  },
  {
    line: TEST_INSTALL_LINE,
    load: async () => (await import('./commands/test-install.ts')).runTestInstall,
    isForClusters: true,
  },
  {
    line: SESSIONS_LIST_LINE,
    load: async () => (await import('./commands/sessions-list.ts')).runSessionsList,
  },
  {
    line: SESSIONS_REVOKE_LINE,
    load: async () => (await import('./commands/sessions-revoke.ts')).runSessionsRevoke,
  },
  {
    line: CLIENTS_LIST_LINE,
    load: async () => (await import('./commands/clients-list.ts')).runClientsList,
  },
  {
    line: CLIENTS_REVOKE_LINE,
    load: async () => (await import('./commands/clients-revoke.ts')).runClientsRevoke,
  },
  // The demo needs development dependencies, which an installation does not have.
  { line: DEMO_LINE, load: async () => (await import('./demo/demo.ts')).runDemo },
];
