import { beforeEach, describe, expect, test } from '@jest/globals';

import {
  approve,
  formOf,
  openAccount,
  openAuthorization,
  refreshTokensOf,
  registerAt,
  startAccountWorld,
  statusWith,
  tokensOf,
} from '../support/account-world.ts';
import { BrowserJar, type BrowserPage } from '../support/browser-jar.ts';
import { membersOf } from '../support/http-client.ts';
import { openForAll } from '../support/open-for-all.ts';

const HOUR_MS = 3_600_000;

const world = openForAll(startAccountWorld);

let browser: BrowserJar;

beforeEach(() => {
  browser = new BrowserJar();
});

function accountOf(of: BrowserJar, login?: string): Promise<BrowserPage> {
  return openAccount(world(), of, login);
}

describe('The applications on the account page', () => {
  test('are those that the user approved, at all hosts, with what they may use', async () => {
    const { files, notes } = world();
    const editor = await registerAt(files, 'The editor of Alice');
    const planner = await registerAt(notes, 'The planner of Alice');
    await approve(editor, browser);
    await approve(planner, browser);
    const bob = new BrowserJar();
    await approve(await registerAt(files, 'The editor of Bob'), bob, 'bob');

    const { body } = await accountOf(browser);
    expect(body).toContain('The editor of Alice');
    expect(body).toContain(`<code>${files}</code>`);
    expect(body).toContain('The planner of Alice');
    expect(body).toContain(`<code>${notes}</code>`);
    expect(body).toContain('it registered itself');
    expect(body).not.toContain('The editor of Bob');
    expect((await accountOf(bob)).body).not.toContain('The editor of Alice');
  });

  test('name the time of the last token', async () => {
    const editor = await registerAt(world().files, 'The last one');
    const { refreshToken } = await approve(editor, browser);
    const before = (await accountOf(browser)).body;
    world().advance(2 * HOUR_MS);
    tokensOf(await refreshTokensOf(editor, refreshToken));

    const [first, second] = [before, (await accountOf(browser)).body].map((body) => {
      const item = body.slice(body.indexOf('The last one'));
      return Date.parse(/datetime="([^"]+)"/.exec(item)?.[1] ?? '');
    });
    expect(Number(second) - Number(first)).toBeGreaterThanOrEqual(2 * HOUR_MS);
  });

  test('cannot write markup on the page, nor push the rest off it', async () => {
    const name = `<b>${'x'.repeat(150)}</b>`;
    await approve(await registerAt(world().files, name), browser);
    const { body } = await accountOf(browser);
    expect(body).toContain('&lt;b&gt;xxx');
    expect(body).not.toContain('<b>');
    expect(body).not.toContain('x'.repeat(81));
  });

  test('say so if there is none', async () => {
    expect((await accountOf(browser, 'carol')).body).toMatch(/approved<\/h2>\s*<p>None/);
  });
});

describe('Revoke on the account page', () => {
  test('ends every token of that application at once, and no other', async () => {
    const { files, notes } = world();
    const editor = await registerAt(files, 'Editor to revoke');
    const first = await approve(editor, browser);
    const second = await approve(editor, browser);
    const planner = await registerAt(notes, 'Planner to keep');
    const kept = await approve(planner, browser);
    expect(await statusWith(files, first.accessToken)).toBe(200);

    const page = await accountOf(browser);
    const after = await browser.submit(formOf(page, 'revoke', editor.id));
    expect(after.url).toBe(world().account);
    expect(after.body).not.toContain('Editor to revoke');
    expect(after.body).toContain('Planner to keep');
    for (const { accessToken, refreshToken } of [first, second]) {
      expect(await statusWith(files, accessToken)).toBe(401);
      const refused = await refreshTokensOf(editor, refreshToken);
      expect(membersOf(refused)).toMatchObject({ error: 'invalid_grant' });
    }
    expect(await statusWith(notes, kept.accessToken)).toBe(200);
    expect((await refreshTokensOf(planner, kept.refreshToken)).status).toBe(200);
    expect(world().events('grant-revoked').at(-1)).toMatchObject({
      reason: 'user-request',
      user: 'alice',
      'client-id': editor.id,
      'client-name': 'Editor to revoke',
    });
  });

  test('makes the user be asked again when the application comes back', async () => {
    const editor = await registerAt(world().files, 'Editor that comes back');
    await approve(editor, browser);
    // Approved before: no question.
    expect((await openAuthorization(editor, browser)).forms).toHaveLength(0);
    await browser.submit(formOf(await accountOf(browser), 'revoke', editor.id));
    expect((await openAuthorization(editor, browser)).body).toContain('Allow this application?');
  });

  test('has no effect on what another user approved', async () => {
    const editor = await registerAt(world().files, 'Editor of two');
    const { accessToken } = await approve(editor, browser);
    const bob = new BrowserJar();
    await approve(editor, bob, 'bob');
    await bob.submit(formOf(await accountOf(bob), 'revoke', editor.id));
    expect(await statusWith(world().files, accessToken)).toBe(200);
    expect((await accountOf(browser)).body).toContain('Editor of two');
    expect((await accountOf(bob)).body).not.toContain('Editor of two');
  });

  test('is only for the form of this browser', async () => {
    const editor = await registerAt(world().files, 'Editor under attack');
    const { accessToken } = await approve(editor, browser);
    const form = formOf(await accountOf(browser), 'revoke', editor.id);
    const bob = new BrowserJar();
    const ofBob = await accountOf(bob, 'bob');
    const tokenOfBob = ofBob.forms[0]?.fields['token'] ?? '';
    for (const token of ['', 'guessed', tokenOfBob]) {
      expect((await browser.submit(form, { token })).status).toBe(403);
    }
    const elsewhere = { headers: { origin: world().website } };
    expect((await browser.submit(form, {}, elsewhere)).status).toBe(403);
    const script = { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };
    expect((await browser.submit(form, {}, { headers: script })).status).toBe(403);
    expect((await browser.submit(form, { action: 'other' })).status).toBe(400);
    expect(await statusWith(world().files, accessToken)).toBe(200);
  });
});
