import { afterAll, beforeAll, expect } from '@jest/globals';

import { BrowserJar } from '../support/browser-jar.ts';
import { fieldsOfPatientUser } from '../support/patient-user.ts';
import { freePort } from '../support/free-port.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startIdentityProvider, type TestIdentityProvider } from '../support/identity-provider.ts';
import { runSuite } from '../support/official-suite/run-suite.ts';
import { verifies } from '../requirements/verifies.ts';

let gateway: TestGateway;
let identityProvider: TestIdentityProvider;

beforeAll(async () => {
  gateway = await startGateway();
  identityProvider = await startIdentityProvider({
    redirectUris: [`${gateway.origin}/.gateway/callback`],
  });
  await gateway.apply(`
apiVersion: gatehouse.dev/v1alpha1
kind: Route
metadata: { name: mcp }
spec:
  from: ${gateway.origin}
  to: http://127.0.0.1:9
  mcp: { server: {} }
  allowAnyAuthenticatedUser: true
---
apiVersion: gatehouse.dev/v1alpha1
kind: GatewaySettings
metadata: { name: gatehouse }
spec:
  mcpAllowedClientIdDomains: ['*.example.com']
  identityProviders:
    - name: test
      issuerUrl: ${identityProvider.issuer}
      clientId: ${identityProvider.clientId}
      clientSecretRef: { name: test, key: client-secret }
---
apiVersion: v1
kind: Secret
metadata: { name: test, labels: { gatehouse.dev/referable: 'true' } }
stringData: { client-secret: ${identityProvider.clientSecret} }
`);
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await identityProvider[Symbol.asyncDispose]();
});

verifies(
  ['as.metadata', 'as.iss', 'as.no-store'],
  '3 of 3 checks of the authorization scenarios of the official suite pass',
  async () => {
    const callbackPort = await freePort();
    const redirectUri = `http://127.0.0.1:${String(callbackPort)}/callback`;
    const args = [
      ...['authorization', '--url', gateway.origin, '--client-id', await register(redirectUri)],
      ...['--resource', gateway.origin, '--port', String(callbackPort)],
    ];
    const suite = await runSuite(args, followUrl);
    expect(suite.text).toMatch(/3 passed, 0 failed/);
    expect(suite.exitCode).toBe(0);
  },
);

async function register(redirectUri: string): Promise<string> {
  const response = await fetch(`${gateway.origin}/.gateway/mcp/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Official conformance suite',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'none',
    }),
  });
  // RFC 7591, section 3.2.1.
  const { client_id: clientId } = (await response.json()) as { client_id: string };
  return clientId;
}

/** Follows the URL that the suite prints for the user. */
async function followUrl(line: string): Promise<void> {
  const url = /https?:\/\/\S+\/authorize\?\S+/.exec(line)?.[0];
  if (url !== undefined) await signInAndApprove(url);
}

async function signInAndApprove(url: string): Promise<void> {
  const browser = new BrowserJar();
  const signIn = await browser.open(url);
  const consent = await browser.submit(signIn, { login: 'alice' });
  await browser.submit(consent, fieldsOfPatientUser(consent, browser));
}
