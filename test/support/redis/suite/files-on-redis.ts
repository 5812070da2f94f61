/**
 * Tests of whole gateways whose behaviour depends on the contents of the stores.
 *
 * A test belongs here if it signs users in and out, issues or refreshes tokens, or counts attempts.
 * A test that signs one user in and then sends bytes to an upstream does not.
 */
export const FILES_ON_REDIS: readonly string[] = [
  'test/conformance/authorize-log.test.ts',
  'test/conformance/identity-provider-failures.test.ts',
  'test/conformance/official-authorization-suite.test.ts',
  'test/conformance/policy-through-the-gateway.test.ts',
  'test/conformance/protected-resource.test.ts',
  'test/conformance/session-recreation/interrupted-renewals.test.ts',
  'test/conformance/session-recreation/silent-providers.test.ts',
  'test/conformance/session-recreation/changed-users.test.ts',
  'test/conformance/session-recreation/expired-sessions.test.ts',
  'test/conformance/session-recreation/refused-sessions.test.ts',
  'test/conformance/web-routes.test.ts',
  'test/integration/official-clients.test.ts',
  'test/integration/renamed-identity-provider.test.ts',
];
