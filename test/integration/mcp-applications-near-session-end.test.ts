import { describe, expect, test } from '@jest/globals';

import { startApplicationWorld, type ApplicationWorld } from '../support/application-world.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import { send } from '../support/http-client.ts';
import { sessionCookieAt } from '../support/web-routes-world.ts';

const MINUTE = 60_000;

/** Default lifetime of sessions. */
const SESSION = 14 * 60 * MINUTE;

const LIST = '/.gateway/mcp/routes';

describe('Near the end of a session', () => {
  async function startNearEnd(
    refreshTokens: 'none' | 'rotated',
  ): Promise<ApplicationWorld & { readonly browser: BrowserJar; readonly files: string }> {
    const started = await startApplicationWorld({ refreshTokens });
    const browser = new BrowserJar();
    await started.tokenOf(browser);
    started.advance(SESSION - 3 * MINUTE);
    return { ...started, browser, files: started.users.originOf('files') };
  }

  test('a token has ten minutes left, and counts after the session if the provider confirms the user', async () => {
    await using near = await startNearEnd('rotated');
    const { browser, files } = near;
    const token = await near.tokenOf(browser);
    expect(await near.tokenOf(browser)).toBe(token);
    expect(await near.statusAt(files, token)).toBe(200);
    near.advance(10 * MINUTE);
    expect(await near.statusAt(files, token)).toBe(200);
    expect(near.users.identityProvider.tokenRequests()).toBe(2);
    const { status } = await near.ask(LIST, token);
    expect(status).toBe(200);
    near.advance(5 * MINUTE);
    expect(await near.statusAt(files, token)).toBe(401);
  });

  test('a token ends with the session if the provider has disabled the user', async () => {
    await using near = await startNearEnd('rotated');
    const { browser, files } = near;
    const token = await near.tokenOf(browser);
    near.users.identityProvider.users.delete('alice');
    near.advance(4 * MINUTE);
    expect(await near.statusAt(files, token)).toBe(401);
  });

  test('a user who signs out keeps no token that could outlive the session', async () => {
    await using near = await startNearEnd('rotated');
    const { browser, files } = near;
    const token = await near.tokenOf(browser);
    await browser.submit(await browser.open(`${near.app}/.gateway/sign_out`));
    near.advance(10 * MINUTE);
    expect(await near.statusAt(files, token)).toBe(401);
    expect(near.users.identityProvider.tokenRequests()).toBe(1);
  });

  test('the user signs in again if the provider gave no refresh token', async () => {
    await using near = await startNearEnd('none');
    const { browser, files } = near;
    const cookie = sessionCookieAt(browser, near.app);
    expect((await send(near.app, { headers: { cookie } })).status).toBe(401);
    const token = await near.tokenOf(browser);
    near.advance(10 * MINUTE);
    expect(await near.statusAt(files, token)).toBe(200);
  });

  test('a session that is too short for ten minutes leads to no loop', async () => {
    await using short = await startApplicationWorld();
    await short.serve({ files: short.server('files') }, { cookie: { expiration: '5m' } });
    const browser = new BrowserJar();
    const token = await short.tokenOf(browser);
    expect(await short.tokenOf(browser)).toBe(token);
    short.advance(4 * MINUTE);
    expect(await short.statusAt(short.users.originOf('files'), token)).toBe(200);
    expect(await short.tokenOf(browser)).not.toBe(token);
  });
});
