/**
 * Tests of whole gateways whose behaviour depends on the contents of the stores.
 *
 * A test belongs here if it signs users in and out, issues or refreshes tokens, or counts attempts.
 * A test that signs one user in and then sends bytes to an upstream does not.
 */
export const FILES_ON_REDIS: readonly string[] = [
  'test/conformance/audit-log.test.ts',
  'test/conformance/authorization-log/logged-requests.test.ts',
  'test/conformance/authorization-log/records.test.ts',
  'test/conformance/authorization-log/selected-fields.test.ts',
  'test/conformance/identity-provider-failures.test.ts',
  'test/conformance/official-authorization-suite.test.ts',
  'test/conformance/policy-of-an-mcp-route/tools.test.ts',
  'test/conformance/policy-of-an-mcp-route/users.test.ts',
  'test/conformance/protected-resource/invalid-tokens.test.ts',
  'test/conformance/protected-resource/metadata.test.ts',
  'test/conformance/protected-resource/requests-without-token.test.ts',
  'test/conformance/protected-resource/several-routes.test.ts',
  'test/conformance/protected-resource/valid-tokens.test.ts',
  'test/conformance/session-recreation/changed-users.test.ts',
  'test/conformance/session-recreation/expired-sessions.test.ts',
  'test/conformance/session-recreation/interrupted-renewals.test.ts',
  'test/conformance/session-recreation/looked-up-groups.test.ts',
  'test/conformance/session-recreation/refused-sessions.test.ts',
  'test/conformance/session-recreation/silent-providers.test.ts',
  'test/conformance/session-recreation/unusable-claims.test.ts',
  'test/conformance/web-routes/access.test.ts',
  'test/conformance/web-routes/requests-without-session.test.ts',
  'test/conformance/web-routes/session-cookies.test.ts',
  'test/integration/account-clients.test.ts',
  'test/integration/sign-out-everywhere.test.ts',
  'test/integration/fewer-scopes.test.ts',
  'test/integration/official-clients.test.ts',
  'test/integration/changed-issuer.test.ts',
  'test/integration/connect/authorization-chain.test.ts',
  'test/integration/connect/connect.test.ts',
  'test/integration/github-sessions.test.ts',
  'test/integration/mcp-applications-near-session-end.test.ts',
  'test/integration/mcp-applications.test.ts',
  'test/integration/providers-of-mcp-routes.test.ts',
  'test/integration/renamed-identity-provider.test.ts',
  'test/integration/several-identity-providers.test.ts',
];
