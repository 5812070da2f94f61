import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { noBrowserReason } from '../support/browser.ts';
import { describeWithBrowser } from '../support/describe-with-browser.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import { startSharedHostWorld, type SharedHostWorld } from '../support/shared-host-world.ts';
import { signInUntil } from '../support/sign-in-world.ts';

/** The authorization request at the identity provider. */
const PROVIDER = /\/auth\?/;

const CUT_OFF = { 'cross-origin-opener-policy': 'same-origin' };

/** Cookies that the gateway refuses a request for: it does not look at the rest. */
const COOKIES = `for (let each = 0; each < 12; each += 1) {
  document.cookie = 'padding' + each + '=' + 'x'.repeat(3000) + ';path=/.gateway';
}`;

let world: SharedHostWorld;

beforeAll(async () => {
  if (noBrowserReason === undefined) world = await startSharedHostWorld();
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/**
 * Opens the attacker's page on the shared host in the browser of alice, who is signed in at the identity
 * provider. When she clicks, it opens `url`. Returns what it can read of where that ends.
 */
async function readWhereItEnds(url: string, script: string): Promise<string> {
  await using victim = await world.openConsent();
  world.attack.html = `<title>waiting</title><button>Play</button><script>
    const end = (text) => { document.title = 'result: ' + text; };
    document.querySelector('button').onclick = async () => {
      ${script}
      const opened = window.open(${JSON.stringify(url)});
      for (let attempts = 0; attempts < 1000; attempts += 1) {
        await new Promise((done) => setTimeout(done, 10));
        if (opened.closed) return end('cut off');
        try {
          const { href } = opened.location;
          if (href !== 'about:blank') return end(href);
        } catch { /* It is at the identity provider. */ }
      }
      end('unreadable');
    };
  </script>`;
  const attack = await victim.page.context().newPage();
  await attack.goto(`${world.shared}/app/`);
  await attack.getByRole('button').click();
  await attack.waitForFunction(`document.title.startsWith('result: ')`);
  return (await attack.title()).replace('result: ', '');
}

// Attack: the attacker begins a sign-in, has the user's browser continue it, reads the provider's answer from the
// window in which the gateway refuses it, and ends the sign-in as that user.
describeWithBrowser('A script that has a user continue the sign-in of an attacker', () => {
  test.each([
    ['in the query', { change: '', script: '', headers: {} }],
    ['in the query if its page is cut off too', { change: '', script: '', headers: CUT_OFF }],
    ['in the fragment', { change: '&response_mode=fragment', script: '', headers: {} }],
    ['of a request with too many cookies', { change: '', script: COOKIES, headers: {} }],
  ])('cannot read the answer of the provider %s', async (_place, { change, script, headers }) => {
    world.attack.headers = headers;
    const signIn = `${world.shared}/.gateway/sign_in`;
    const url = await signInUntil(new BrowserJar(), signIn, PROVIDER);
    expect(await readWhereItEnds(url + change, script)).toBe('cut off');
  });
});
