import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';

import { launchBrowser } from '../support/browser.ts';
import { describeWithBrowser } from '../support/describe-with-browser.ts';
import { eventually } from '../support/eventually.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from '../support/gateway-with-users.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** Answers for every page of its host; the title says what it could read of the page itself. */
const WORKER = `
  self.oninstall = () => self.skipWaiting();
  self.onactivate = (event) => event.waitUntil(self.registration.navigationPreload.enable());
  self.onfetch = (event) => {
    if (event.request.mode !== 'navigate') return;
    event.respondWith((async () => {
      const answers = [await event.preloadResponse, await fetch(event.request)];
      const read = answers.map(({ status }) => status).join(' ');
      const headers = { 'content-type': 'text/html' };
      return new Response('<title>of the worker: ' + read + '</title>', { headers });
    })());
  };
`;

const SIGN_OUT = '/.gateway/sign_out';

let upstream: Upstream;
let users: GatewayWithUsers;

beforeAll(async () => {
  upstream = await startUpstream((message, response) => {
    message.resume();
    const isScript = message.url === '/app/worker.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    if (isScript) response.setHeader('service-worker-allowed', '/');
    response.end(isScript ? WORKER : '<title>app</title>');
  });
  users = await startGatewayWithUsers();
});

afterAll(async () => {
  await users[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

/** Serves a web application on a host, which then may get an MCP route. */
async function serve(host: string, withMcp: boolean): Promise<void> {
  const here = { from: users.originOf(host), to: upstream.origin };
  const app = {
    ...{ ...here, prefix: '/', allowPublicUnauthenticatedAccess: true },
    passResponseHeaders: ['Service-Worker-Allowed'],
  };
  const mcp = { ...here, prefix: '/mcp', mcp: { server: {} }, allowAnyAuthenticatedUser: true };
  await users.configure(withMcp ? { app, mcp } : { app });
}

/** Has the application on a host register its worker for the whole host. */
async function registerWorker(page: Page, host: string): Promise<void> {
  await page.goto(`${users.originOf(host)}/app/`);
  await page.evaluate(`(async () => {
    await navigator.serviceWorker.register('/app/worker.js', { scope: '/' });
    const { active } = await navigator.serviceWorker.ready;
    if (active.state === 'activated') return;
    await new Promise((done) => active.addEventListener('statechange', done));
  })()`);
}

async function titleOf(page: Page, host: string): Promise<string> {
  await page.goto(`${users.originOf(host)}${SIGN_OUT}`);
  return page.title();
}

describeWithBrowser('A service worker that is older than the MCP route of its host', () => {
  test('cannot read the pages of the gateway, and leaves the browser', async () => {
    await serve('shared', false);
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      await registerWorker(page, 'shared');
      expect(await titleOf(page, 'shared')).toBe('of the worker: 403 403');
      await serve('shared', true);
      // The browser asks for the script when the navigations have ended.
      expect(await titleOf(page, 'shared')).toBe('of the worker: 403 403');
      const count = `navigator.serviceWorker.getRegistrations().then(({ length }) => length)`;
      await eventually('no worker is left', async () => (await page.evaluate(count)) === 0);
      expect(await titleOf(page, 'shared')).toBe('Signed out');
    } finally {
      await browser.close();
    }
  });
});
