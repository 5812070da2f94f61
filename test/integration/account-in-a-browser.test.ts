import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';

import { launchBrowser, noBrowserReason, screenshot } from '../support/browser.ts';
import { describeWithBrowser } from '../support/describe-with-browser.ts';
import { startConnectWorld, type ConnectWorld } from '../support/connect-world.ts';
import { callMcp, signInClient } from '../support/signed-in-client.ts';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

let browser: Browser;
let world: ConnectWorld;

beforeAll(async () => {
  if (noBrowserReason === undefined) browser = await launchBrowser();
});

afterAll(async () => {
  if (noBrowserReason === undefined) await browser.close();
});

afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
  await world[Symbol.asyncDispose]();
});

/** A window without scripts, in which alice has signed in at her page. */
async function openAccount(): Promise<Page> {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${world.users.originOf('auth')}/.gateway/sign_in`);
  await signIn(page, 'alice');
  await page.getByRole('heading', { name: 'Your account' }).waitFor();
  return page;
}

async function signIn(page: Page, login: string): Promise<void> {
  await page.getByLabel('Login').fill(login);
  await page.getByRole('button').first().click();
}

function itemOf(page: Page, name: string): Locator {
  return page.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) });
}

async function press(item: Locator, name: string): Promise<void> {
  await item.getByRole('button', { name, exact: true }).click();
}

describeWithBrowser('The account page in a browser without scripts', () => {
  test.each(['Lax', 'Strict'] as const)(
    'connects and disconnects, with %s cookies',
    async (sameSite) => {
      world = await startConnectWorld({
        hasAuthenticateHost: true,
        settings: { cookie: { sameSite } },
      });
      const page = await openAccount();
      await itemOf(page, 'files').getByText('Needs connecting').waitFor();
      await press(itemOf(page, 'files'), 'Connect');
      await signIn(page, 'alice-at-the-upstream');

      await itemOf(page, 'files').getByText('Connected').waitFor();
      await screenshot(page, 'account-connected');
      expect(await world.isConnected('alice', world.files)).toBe(true);
      await press(itemOf(page, 'files'), 'Disconnect');
      await itemOf(page, 'files').getByText('Needs connecting').waitFor();
      expect(await world.isConnected('alice', world.files)).toBe(false);
    },
  );

  test('says that the user refused to connect', async () => {
    world = await startConnectWorld({ hasAuthenticateHost: true });
    const page = await openAccount();
    await press(itemOf(page, 'mail'), 'Connect');
    await signIn(page, '');
    await page.getByRole('alert').getByText('said no').waitFor();
    await screenshot(page, 'account-connect-refused');
    expect(await world.isConnected('alice', world.mail)).toBe(false);
  });
});

describeWithBrowser('The applications on the account page in a browser without scripts', () => {
  let open: string;

  beforeEach(async () => {
    world = await startConnectWorld({ hasAuthenticateHost: true });
    open = world.users.originOf('open');
    await world.reconfigure((routes) => {
      const to = world.backend.origin;
      routes['open'] = { from: open, to, mcp: { server: {} }, allowAnyAuthenticatedUser: true };
    });
  });

  test('are revoked by a click', async () => {
    const { accessToken } = await signInClient(open);
    const page = await openAccount();
    await screenshot(page, 'account');
    expect((await callMcp(open, accessToken, PING)).status).toBe(200);
    await press(itemOf(page, 'Test client'), 'Revoke');
    await itemOf(page, 'Test client').waitFor({ state: 'detached' });
    expect((await callMcp(open, accessToken, PING)).status).toBe(401);
  });

  test('end with a sign-out everywhere', async () => {
    const { accessToken } = await signInClient(open);
    const page = await openAccount();
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('heading', { name: 'Signed out' }).waitFor();
    await screenshot(page, 'account-signed-out-everywhere');
    expect((await callMcp(open, accessToken, PING)).status).toBe(401);
  });
});
