import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client';
import { Client as ClassicClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as ClassicTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Browser, Page } from 'playwright-core';

import { startMcpServer } from '../../cli/demo/mcp-server/mcp-server.ts';
import type { LoopbackServer } from '../../cli/demo/loopback-server.ts';
import { launchBrowser, noBrowserReason, screenshot } from '../support/browser.ts';
import { describeWithBrowser } from '../support/describe-with-browser.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startIdentityProvider, type TestIdentityProvider } from '../support/identity-provider.ts';
import { startLoopbackClient, type LoopbackClient } from '../support/loopback-client.ts';
import { READING_MS } from '../support/patient-user.ts';
import { verifies } from '../requirements/verifies.ts';

/** The methods of both SDK generations that these tests use. */
interface Connection {
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

interface Sdk {
  readonly name: string;
  /** Connects. Without a token it asks the user to sign in, and rejects. */
  connect(url: URL, client: LoopbackClient): Promise<Connection>;
  /** Exchanges the redirect for tokens. */
  finish(url: URL, client: LoopbackClient, callback: URLSearchParams): Promise<void>;
}

const INFO = { name: 'sign-in-test', version: '1.0.0' };

const CLASSIC: Sdk = {
  name: 'sdk 1.x',
  async connect(url, { provider }) {
    const client = new ClassicClient(INFO);
    const transport = new ClassicTransport(url, { authProvider: provider });
    await client.connect(transport);
    return client;
  },
  finish: (url, { provider }, callback) =>
    new ClassicTransport(url, { authProvider: provider }).finishAuth(callback.get('code') ?? ''),
};

function modern(mode: 'auto' | 'legacy'): Sdk {
  return {
    name: `client 2.x, ${mode}`,
    async connect(url, { provider }) {
      const client = new ModernClient(INFO, { versionNegotiation: { mode } });
      await client.connect(new ModernTransport(url, { authProvider: provider }));
      return client;
    },
    finish: (url, { provider }, callback) =>
      new ModernTransport(url, { authProvider: provider }).finishAuth(callback),
  };
}

const SDKS: readonly Sdk[] = [CLASSIC, modern('legacy'), modern('auto')];

/** How far the gateway's clock is ahead: users read without letting the test wait. */
let msAhead = 0;
let identityProvider: TestIdentityProvider;
let gateway: TestGateway;
let mcpServer: LoopbackServer;
let browser: Browser;
let url: URL;

beforeAll(async () => {
  if (noBrowserReason !== undefined) return;
  gateway = await startGateway({ now: () => Date.now() + msAhead });
  mcpServer = await startMcpServer(
    { port: 0, flag: '--mcp-port', environment: '' },
    gateway.origin,
  );
  identityProvider = await startIdentityProvider({
    redirectUris: [`${gateway.origin}/.gateway/callback`],
  });
  await gateway.apply(manifests());
  url = new URL(gateway.origin);
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
  await identityProvider[Symbol.asyncDispose]();
  await mcpServer.close();
});

function manifests(toolDenial = 'error'): string {
  return `
apiVersion: gatehouse.dev/v1alpha1
kind: Route
metadata: { name: invoices }
spec:
  from: ${gateway.origin}
  to: ${mcpServer.origin}
  mcp: { server: { path: /mcp } }
  policy:
    allow: { and: [{ domain: { is: example.com } }] }
    deny: { and: [{ mcp_tool: { starts_with: delete_ } }, { groups: { not_in: [admins] } }] }
---
apiVersion: gatehouse.dev/v1alpha1
kind: GatewaySettings
metadata: { name: gatehouse }
spec:
  identityProviders:
    - name: test
      issuerUrl: ${identityProvider.issuer}
      clientId: ${identityProvider.clientId}
      clientSecretRef: { name: test, key: client-secret }
      scopes: [openid, email, profile, groups]
  toolDenial: ${toolDenial}
  authorizeLogFields: [mcp-method, mcp-tool, mcp-tool-parameters, user, email, allow, allow-why-true, allow-why-false, deny, deny-why-true]
---
apiVersion: v1
kind: Secret
metadata: { name: test, labels: { gatehouse.dev/referable: 'true' } }
stringData: { client-secret: ${identityProvider.clientSecret} }
`;
}

/** Signs in at the identity provider, and approves the client on the consent page. */
async function signInAndApprove(page: Page, login: string, shots: string): Promise<void> {
  await page.getByLabel('Login').fill(login);
  await screenshot(page, `${shots}-sign-in`);
  await page.getByRole('button').first().click();
  const approve = page.getByRole('button', { name: 'Approve' });
  await approve.waitFor();
  await screenshot(page, `${shots}-consent`);
  msAhead += READING_MS;
  await approve.click();
  await page.getByRole('heading', { name: 'You can close this window' }).waitFor();
}

/** Does everything that a user sees of a sign-in; resolves with a connected client. */
async function signIn(sdk: Sdk, client: LoopbackClient, login: string): Promise<Connection> {
  await expect(sdk.connect(url, client)).rejects.toThrow();
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto((await client.authorizationUrl).href);
  await signInAndApprove(page, login, `sign-in-${sdk.name.replaceAll(/\W+/g, '-')}-${login}`);
  await context.close();
  await sdk.finish(url, client, await client.callback);
  return sdk.connect(url, client);
}

describeWithBrowser.each(SDKS)('sign-in with the official client ($name)', (sdk) => {
  verifies(
    [
      'mcp.register-sign-in-token-call',
      'mcp.upstream-without-auth',
      'mcp.path-appended',
      'errors.tool-denied',
    ],
    'registers, signs the user in, calls a tool, and is denied a different tool by policy',
    async () => {
      await using client = await startLoopbackClient('Sign-in test');
      const connection = await signIn(sdk, client, 'alice');
      const { tools } = await connection.listTools();
      expect(tools.map(({ name }) => name)).toContain('delete_invoice');

      const harmless = await connection.callTool({ name: 'whoami', arguments: {} });
      expect(JSON.stringify(harmless)).toContain('alice@example.com');

      const denied = connection.callTool({ name: 'delete_invoice', arguments: { id: 'INV-1' } });
      await expect(denied).rejects.toMatchObject({
        code: 40301,
        data: { reason: 'mcp-tool-unauthorized' },
      });
      // A denial is a response: the connection stays open.
      expect((await connection.listTools()).tools).toHaveLength(tools.length);
      await connection.close();

      expect(gateway.decisions()).toContainEqual(
        expect.objectContaining({
          'mcp-method': 'tools/call',
          'mcp-tool': 'delete_invoice',
          email: 'alice@example.com',
          allow: false,
          'allow-why-false': ['mcp-tool-unauthorized'],
        }),
      );
    },
  );

  verifies(
    ['policy.tool-denial', 'transport.both-eras'],
    'hands a denied tool to the model as a result, if the settings say so',
    async () => {
      await using client = await startLoopbackClient('Sign-in test');
      const connection = await signIn(sdk, client, 'alice');
      await gateway.apply(manifests('result'));
      const denied = await connection.callTool({ name: 'delete_invoice', arguments: { id: 'x' } });
      await gateway.apply(manifests());
      expect(denied).toMatchObject({
        isError: true,
        content: [{ type: 'text', text: expect.stringContaining('not permitted by policy') }],
        _meta: { 'dev.gatehouse/reason': 'mcp-tool-unauthorized' },
      });
      expect((await connection.listTools()).tools).not.toHaveLength(0);
      await connection.close();
    },
  );

  test('a user of another group may call the dangerous tool', async () => {
    await using client = await startLoopbackClient('Sign-in test');
    const connection = await signIn(sdk, client, 'carol');
    const result = await connection.callTool({ name: 'delete_invoice', arguments: { id: 'none' } });
    expect(JSON.stringify(result)).toContain('none');
    await connection.close();
  });

  test('a client renews its token by itself when the old one is refused', async () => {
    await using client = await startLoopbackClient('Sign-in test');
    const connection = await signIn(sdk, client, 'bob');
    const before = client.tokens();
    await gateway.stores.revocations.publish({ kind: 'token', tokenId: 'unrelated' });
    await client.provider.saveTokens({
      ...before,
      access_token: 'gte_spoiled',
      token_type: 'Bearer',
    });
    expect((await connection.listTools()).tools).not.toHaveLength(0);
    expect(client.tokens()?.access_token).not.toBe('gte_spoiled');
    expect(client.tokens()?.refresh_token).not.toBe(before?.refresh_token);
    await connection.close();
  });
});
