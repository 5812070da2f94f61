import { describe, expect, test } from '@jest/globals';

import {
  approve,
  formOf,
  openAccount,
  refreshTokensOf,
  registerAt,
  startAccountWorld,
  statusWith,
} from '../support/account-world.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import { membersOf } from '../support/http-client.ts';
import { openForAll } from '../support/open-for-all.ts';
import { signInAt } from '../support/sign-in-world.ts';

const world = openForAll(startAccountWorld);

async function isSignedIn(browser: BrowserJar, url: string): Promise<boolean> {
  return (await browser.open(url, { stopAt: () => true })).status === 200;
}

async function signOutEverywhere(browser: BrowserJar) {
  const page = await openAccount(world(), browser);
  return browser.submit(formOf(page, 'sign-out-everywhere'));
}

describe('Sign out everywhere', () => {
  test('ends the sessions of all browsers of the user, on all hosts', async () => {
    const { website, account } = world();
    const [here, there, bob] = [new BrowserJar(), new BrowserJar(), new BrowserJar()];
    await signInAt(here, website);
    await signInAt(there, website);
    await signInAt(bob, website, 'bob');
    const page = await signOutEverywhere(here);

    expect(page.status).toBe(200);
    expect(page.body).toContain('Signed out');
    for (const browser of [here, there]) {
      expect(await isSignedIn(browser, website)).toBe(false);
      expect((await browser.open(account)).body).toContain('You are not signed in');
    }
    expect(await isSignedIn(bob, website)).toBe(true);
    const reason = 'signed-out-everywhere';
    const ended = world().events('sign-in-ended');
    expect(ended.filter((event) => event['reason'] === reason).length).toBeGreaterThanOrEqual(2);
    expect(ended.at(-1)).toMatchObject({ user: 'alice', 'sign-in-id': expect.any(String) });
  });

  test('ends the tokens of all applications, which nothing renews', async () => {
    const { files, notes } = world();
    const [here, there] = [new BrowserJar(), new BrowserJar()];
    const editor = await registerAt(files, 'Editor');
    const planner = await registerAt(notes, 'Planner');
    const granted = [
      { client: editor, tokens: await approve(editor, here) },
      { client: planner, tokens: await approve(planner, there) },
    ];
    const ofBob = await approve(editor, new BrowserJar(), 'bob');
    for (const { client, tokens } of granted) {
      expect(await statusWith(client.url, tokens.accessToken)).toBe(200);
    }
    await signOutEverywhere(here);

    for (const { client, tokens } of granted) {
      expect(await statusWith(client.url, tokens.accessToken)).toBe(401);
      const refused = membersOf(await refreshTokensOf(client, tokens.refreshToken));
      expect(refused).toMatchObject({ error: 'invalid_grant' });
    }
    expect(await statusWith(files, ofBob.accessToken)).toBe(200);
    const again = await openAccount(world(), here);
    expect(again.body).not.toContain('Planner');
    expect(world().events('grant-revoked').at(-1)).toMatchObject({
      user: 'alice',
      reason: 'signed-out-everywhere',
    });
  });

  test('a user can sign in again, and use what they are given then', async () => {
    const browser = new BrowserJar();
    const editor = await registerAt(world().files, 'Editor of tomorrow');
    await approve(editor, browser);
    await signOutEverywhere(browser);
    const { accessToken } = await approve(editor, browser);
    expect(await statusWith(world().files, accessToken)).toBe(200);
    expect((await browser.open(world().account)).body).toContain('Editor of tomorrow');
  });

  test('needs the form of the page', async () => {
    const browser = new BrowserJar();
    const form = formOf(await openAccount(world(), browser), 'sign-out-everywhere');
    expect((await browser.submit(form, { token: 'guessed' })).status).toBe(403);
    expect((await browser.open(world().account)).body).toContain('alice@example.com');
  });
});
