import { createHash } from 'node:crypto';

import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';

import { launchBrowser, noBrowserReason, screenshot } from '../../support/browser.ts';
import { describeWithBrowser } from '../../support/describe-with-browser.ts';
import { BrowserJar } from '../../support/browser-jar.ts';
import {
  startConnectWorld,
  walkUntilCallback,
  type ConnectWorld,
} from '../../support/connect-world.ts';
import { READING_MS } from '../../support/patient-user.ts';
import { discover, register } from '../../support/signed-in-client.ts';

const CHALLENGE = createHash('sha256').update('a-verifier').digest('base64url');

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

async function newWindow(): Promise<Page> {
  const context = await browser.newContext();
  return context.newPage();
}

/** Fills in the sign-in page of an identity provider or of an upstream. */
async function signIn(page: Page, login: string): Promise<void> {
  await page.getByLabel('Login').fill(login);
  await page.getByRole('button').first().click();
}

/** Signs in at the gateway and at the upstream. */
async function signInTwice(page: Page, login: string, upstreamLogin: string): Promise<void> {
  await signIn(page, login);
  await page.waitForURL(/\/sign-in\//);
  await signIn(page, upstreamLogin);
}

describeWithBrowser('In a browser', () => {
  test('a user connects from an application, and returns to it', async () => {
    world = await startConnectWorld();
    const page = await newWindow();
    await page.goto(world.app);
    await signIn(page, 'alice');
    await page.getByRole('heading', { name: 'The application' }).waitFor();
    await page.goto(world.connectUrl(world.files));
    await signIn(page, 'alice-at-the-upstream');

    await page.waitForURL(`${world.app}/back`);
    expect(await world.isConnected('alice', world.files)).toBe(true);
  });

  test.each(['Lax', 'Strict', 'None'] as const)(
    'a link of a client ends at a page that says to go back, with %s cookies',
    async (sameSite) => {
      world = await startConnectWorld({ settings: { cookie: { sameSite } } });
      const page = await newWindow();
      await page.goto(world.linkFor('alice', world.files));
      await signInTwice(page, 'alice', 'alice-at-the-upstream');

      await page.getByRole('heading', { name: 'You are connected' }).waitFor();
      await screenshot(page, 'connect-done');
      expect(await world.isConnected('alice', world.files)).toBe(true);
    },
  );

  test('another user is told that the link is not theirs, and can sign out', async () => {
    world = await startConnectWorld();
    const page = await newWindow();
    await page.goto(world.linkFor('alice', world.files));
    await signIn(page, 'bob');

    await page.getByText('This link is for another user').waitFor();
    await screenshot(page, 'connect-link-of-another-user');
    await page.getByRole('link', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Signed out' }).waitFor();
    expect(await world.isConnected('bob', world.files)).toBe(false);
  });

  test('a user who says no at the upstream sees that nothing was connected', async () => {
    world = await startConnectWorld();
    const page = await newWindow();
    await page.goto(world.linkFor('alice', world.files));
    await signInTwice(page, 'alice', '');

    await page.getByRole('heading', { name: 'Connecting did not work' }).waitFor();
    await screenshot(page, 'connect-refused');
    expect(await world.isConnected('alice', world.files)).toBe(false);
  });

  test('a user sees what an administrator has to change', async () => {
    world = await startConnectWorld({
      settings: { mcpAllowedAsMetadataDomains: ['mcp.example.com'] },
    });
    const page = await newWindow();
    await page.goto(world.linkFor('alice', world.files));
    await signIn(page, 'alice');

    await page.getByText('mcpAllowedAsMetadataDomains').waitFor();
    await screenshot(page, 'connect-configuration-error');
    expect(world.files.mcpServer.metadataRequests()).toBe(0);
  });

  test('the response to one user connects nobody in the browser of another', async () => {
    world = await startConnectWorld();
    const bob = await newWindow();
    await bob.goto(world.linkFor('bob', world.files));
    await signInTwice(bob, 'bob', 'bob-at-the-upstream');
    await bob.getByRole('heading', { name: 'You are connected' }).waitFor();
    await bob.goto(await walkUntilCallback(new BrowserJar(), world.linkFor('alice', world.files)));

    await bob.getByText('begun in another browser').waitFor();
    await screenshot(bob, 'connect-mix-up');
    expect(await world.isConnected('alice', world.files)).toBe(false);
  });

  test.each([
    ['at the host of the route', false],
    ['at the authenticate host', true],
  ])('a user approves a client %s, connects, and the client gets its code', async (_at, has) => {
    world = await startConnectWorld({ hasAuthenticateHost: has });
    const callback = `${world.backend.origin}/client`;
    const server = await discover(world.files.url);
    const query = new URLSearchParams({
      ...{ response_type: 'code', client_id: await register(server, callback) },
      ...{ redirect_uri: callback, resource: server.resource },
      ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256' },
    });
    const page = await newWindow();
    await page.goto(`${server.authorizationEndpoint}?${query.toString()}`);
    await signIn(page, 'alice');
    const approve = page.getByRole('button', { name: 'Approve' });
    await approve.waitFor();
    await screenshot(page, 'connect-after-consent');
    await page.waitForTimeout(READING_MS);
    await approve.click();
    await page.waitForURL(/\/sign-in\//);
    await signIn(page, 'alice-at-the-upstream');

    await page.waitForURL(/\/client\?code=/);
    expect(await world.isConnected('alice', world.files)).toBe(true);
  });
});
