import { describe, expect, test } from '@jest/globals';

import { startMcpServer } from '../../cli/demo/mcp-server/mcp-server.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import { noFastmcpReason, runFastmcp, type FastmcpOptions } from '../support/fastmcp.ts';
import { startGatewayWithUsers } from '../support/gateway-with-users.ts';
import { fieldsOfPatientUser } from '../support/patient-user.ts';
import { TemporaryDirectory } from '../support/temporary-directory.ts';

const HOUR = 3600;
const SECOND = 1000;

/** Three processes of Python, on a busy machine. */
const MAX_TEST_MS = 400_000;

const describeWithFastmcp = noFastmcpReason === undefined ? describe : describe.skip;
if (noFastmcpReason !== undefined) console.warn(`skipped: ${noFastmcpReason}`);

/** Signs alice in at the identity provider, and approves the client. */
async function signInAlice(url: string): Promise<void> {
  const browser = new BrowserJar();
  const consent = await browser.submit(await browser.open(url), { login: 'alice' });
  const end = await browser.submit(consent, fieldsOfPatientUser(consent, browser));
  // The page of the client's callback server.
  expect(new URL(end.url).pathname).toBe('/callback');
}

describeWithFastmcp('fastmcp', () => {
  test(
    'a user of fastmcp signs in once, and restarts refresh the expired token',
    async () => {
      let ahead = 0;
      await using world = await startGatewayWithUsers({ now: () => Date.now() + ahead * SECOND });
      const { gateway, identityProvider } = world;
      const server = await startMcpServer(
        { port: 0, flag: '--mcp-port', environment: '' },
        gateway.origin,
      );
      await using closing = new AsyncDisposableStack();
      closing.defer(() => server.close());
      await using home = await TemporaryDirectory.create();
      await world.configure({
        invoices: {
          ...{ from: gateway.origin, to: server.origin, mcp: { server: { path: '/mcp' } } },
          allowAnyAuthenticatedUser: true,
        },
      });
      const start = (signIn: FastmcpOptions['signIn']) =>
        runFastmcp(['call', gateway.origin, 'list_invoices'], {
          ...{ home: home.path, clockAheadSeconds: ahead, signIn },
        });

      const first = await start(signInAlice);
      expect(first).toMatchObject({ code: 0, output: expect.stringContaining('INV-1001') });

      // External tokens live for 15 minutes.
      for (const restart of [1, 2]) {
        ahead += HOUR;
        const { code, output } = await start((url) => {
          throw new Error(`restart ${String(restart)} asks the user to sign in: ${url}`);
        });
        expect({ code, output }).toMatchObject({
          code: 0,
          output: expect.stringContaining('INV-1001'),
        });
      }
      expect(identityProvider.authorizationRequests).toHaveLength(1);
      const messages = gateway.logs().map(({ message }) => message);
      expect(messages.filter((message) => message === 'client registered')).toHaveLength(1);
    },
    MAX_TEST_MS,
  );
});
