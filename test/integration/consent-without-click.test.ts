import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';

import { noBrowserReason } from '../support/browser.ts';
import { describeWithBrowser } from '../support/describe-with-browser.ts';
import { READING_MS } from '../support/patient-user.ts';
import {
  startSharedHostWorld,
  type ConsentWindow,
  type SharedHostWorld,
} from '../support/shared-host-world.ts';

let world: SharedHostWorld;
let codesBefore: number;

beforeAll(async () => {
  if (noBrowserReason === undefined) world = await startSharedHostWorld();
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

beforeEach(() => {
  world.attack.headers = {};
  codesBefore = world.codes();
});

/** Number of codes that the client received in this test. */
function newCodes(): number {
  return world.codes() - codesBefore;
}

/** Fails if the last click on the consent page approved the client: the user can still deny it. */
async function expectNoApproval(page: Page): Promise<void> {
  const done = page.getByRole('heading', { name: 'Done' }).waitFor();
  await Promise.race([page.getByRole('button', { name: 'Deny' }).click(), done]);
  await done;
  expect(newCodes()).toBe(0);
}

/** Reasons of the requests that the gateway refused since a number of log lines. */
function refusals(since: number): readonly unknown[] {
  const lines = world.users.gateway.logs().slice(since);
  return lines.filter(({ message }) => message === 'request refused').map(({ reason }) => reason);
}

/**
 * Opens the attacker's page on the shared host in a window of its own, and has the user click its button
 * once. The page runs `script` then, and ends with a title.
 */
async function clickAttack(page: Page, script: string, path = '/app/'): Promise<string> {
  world.attack.html = `<title>waiting</title><button>Play</button><script>
    const once = (target, event) => new Promise((done) => target.addEventListener(event, done));
    const pause = (ms) => new Promise((done) => setTimeout(done, ms));
    document.querySelector('button').onclick = async () => {
      try { document.title = 'result: ' + await (async () => { ${script} })(); }
      catch (error) { document.title = 'result: ' + error.name; }
    };
  </script>`;
  const attacker = await page.context().newPage();
  await attacker.goto(world.shared + path);
  await attacker.getByRole('button').click();
  await attacker.waitForFunction(`document.title.startsWith('result: ')`);
  const result = await attacker.title();
  await attacker.close();
  return result;
}

describeWithBrowser('A user at the consent page', () => {
  test('a click a second after the page approves the client', async () => {
    await using consent = await world.openConsent();
    world.clock.now += READING_MS;
    await consent.page.getByRole('button', { name: 'Approve' }).click();
    await consent.page.getByRole('heading', { name: 'Done' }).waitFor();
    expect(newCodes()).toBe(1);
  });

  test('the keyboard approves the client too', async () => {
    await using consent = await world.openConsent();
    world.clock.now += READING_MS;
    await consent.page.getByRole('button', { name: 'Approve' }).focus();
    await consent.page.keyboard.press('Enter');
    await consent.page.getByRole('heading', { name: 'Done' }).waitFor();
    expect(newCodes()).toBe(1);
  });

  test('a click within a second gets the page again, and the next click counts', async () => {
    await using consent = await world.openConsent();
    world.clock.now += READING_MS - 1;
    const approve = consent.page.getByRole('button', { name: 'Approve' });
    await approve.click();
    const alert = consent.page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toContain('within a second');
    await approve.click();
    await alert.waitFor();
    expect(newCodes()).toBe(0);
    world.clock.now += READING_MS;
    await approve.click();
    await consent.page.getByRole('heading', { name: 'Done' }).waitFor();
    expect(newCodes()).toBe(1);
  });

  test('a double click across the navigation to the page does not approve the client', async () => {
    await using consent = await world.openConsent();
    const button = await consent.page.getByRole('button', { name: 'Approve' }).boundingBox();
    const { x = 0, y = 0 } = button ?? {};
    // The attacker's button is where Approve will be, and the first click leads to the consent page.
    world.attack.html = `<button style="position:fixed;left:${String(x)}px;top:${String(y)}px">Play</button>
      <script>document.onclick = () => { location.href = ${JSON.stringify(consent.url)}; };</script>`;
    await consent.page.goto(`${world.shared}/app/`);
    await consent.page.mouse.click(x + 5, y + 5);
    await consent.page.getByRole('button', { name: 'Approve' }).waitFor();
    await consent.page.mouse.click(x + 5, y + 5);
    await expectNoApproval(consent.page);
  });

  test('a double click on a window that closes over the page does not approve the client', async () => {
    await using consent = await world.openConsent();
    // A window that the mouse was never over: until the first click, another window covers it.
    const covered = await consent.page.context().newPage();
    await covered.goto(consent.url);
    // Its animations stand still, so that no time passes for them however busy the machine is.
    const devtools = await covered.context().newCDPSession(covered);
    await devtools.send('Animation.enable');
    await devtools.send('Animation.setPlaybackRate', { playbackRate: 0 });
    world.clock.now += READING_MS;
    const button = await covered.getByRole('button', { name: 'Approve' }).boundingBox();
    const { x = 0, y = 0 } = button ?? {};
    await covered.mouse.click(x + 5, y + 5);
    await expectNoApproval(covered);
  });

  test('a denial counts at once', async () => {
    await using consent = await world.openConsent();
    await consent.page.getByRole('button', { name: 'Deny' }).click();
    await consent.page.getByRole('heading', { name: 'Done' }).waitFor();
    expect(newCodes()).toBe(0);
  });
});

describeWithBrowser('A script of a web route on the host of the consent page', () => {
  let consent: ConsentWindow;

  beforeAll(async () => {
    consent = await world.openConsent();
    world.clock.now += READING_MS;
  });

  afterAll(async () => {
    await consent[Symbol.asyncDispose]();
  });

  test('cannot read the page', async () => {
    const since = world.users.gateway.logs().length;
    const fetched = await clickAttack(
      consent.page,
      `return (await fetch(${JSON.stringify(consent.url)})).status;`,
    );
    expect(fetched).toBe('result: 403');
    expect(refusals(since)).toContain('not-a-navigation');
  });

  test('cannot post the form, even if it knows the seal', async () => {
    const fields = await sealedFields(consent.page);
    const since = world.users.gateway.logs().length;
    const posted = await clickAttack(
      consent.page,
      `const body = new URLSearchParams(${JSON.stringify(fields)});
       return (await fetch('/.gateway/mcp/consent', { method: 'POST', body })).status;`,
    );
    expect(posted).toBe('result: 403');
    expect(refusals(since)).toContain('not-a-navigation');
    expect(newCodes()).toBe(0);
  });

  test('cannot submit the form without a click, even if it knows the seal', async () => {
    const fields = await sealedFields(consent.page);
    const inputs = Object.entries(fields).map(
      ([name, value]) => `<input name="${name}" value="${value}">`,
    );
    world.attack.html = `<form method="post" action="/.gateway/mcp/consent">${inputs.join('')}</form>
      <script>document.forms[0].submit();</script>`;
    const since = world.users.gateway.logs().length;
    const attacker = await consent.page.context().newPage();
    await attacker.goto(`${world.shared}/app/`);
    await attacker.waitForURL(/consent/);
    await attacker.getByRole('heading', { name: 'Forbidden' }).waitFor();
    expect(refusals(since)).toContain('no-click');
    expect(newCodes()).toBe(0);
  });

  test('cannot reach the page in a frame', async () => {
    const reached = await clickAttack(
      consent.page,
      `const frame = document.body.appendChild(document.createElement('iframe'));
       const loaded = once(frame, 'load');
       frame.src = ${JSON.stringify(consent.url)};
       await loaded;
       return frame.contentDocument?.forms.length ?? 'no document';`,
    );
    expect(reached).toMatch(/^result: (?:0|no document)$/);
  });

  test.each([{}, { 'cross-origin-opener-policy': 'same-origin' }])(
    'cannot reach the page in a window that it opens, with the response fields %j',
    async (headers) => {
      world.attack.headers = headers;
      // The opener of a window that is cut off sees it as closed, or as one of another origin.
      const reached = await clickAttack(
        consent.page,
        `const opened = window.open(${JSON.stringify(consent.url)});
         for (;;) {
           if (opened.closed) return 'cut off';
           const button = opened.document?.querySelector('button.primary');
           if (button) { button.click(); return 'clicked'; }
           await pause(10);
         }`,
      );
      expect(reached).toMatch(/^result: (?:cut off|SecurityError)$/);
      expect(newCodes()).toBe(0);
    },
  );

  test('cannot keep a service worker', async () => {
    const left = await clickAttack(
      consent.page,
      `const { serviceWorker } = navigator;
       await serviceWorker.register('/app/worker.js');
       while ((await serviceWorker.getRegistrations()).length > 0) await pause(10);
       return 'none left';`,
    );
    expect(left).toBe('result: none left');
  });
});

describeWithBrowser('A host without consent pages', () => {
  test('web applications on it may have service workers', async () => {
    await using consent = await world.openConsent();
    world.attack.html = '<title>app</title>';
    await consent.page.goto(`${world.web}/app/`);
    const scope = await consent.page.evaluate(
      `navigator.serviceWorker.register('/app/worker.js').then(({ scope }) => scope)`,
    );
    expect(scope).toBe(`${world.web}/app/`);
  });
});

/** The fields of the consent page, which no script can read, as if it could. */
async function sealedFields(page: Page): Promise<Record<string, string>> {
  const value = (name: string): Promise<string> =>
    page.locator(`input[name="${name}"]`).first().inputValue();
  return { request: await value('request'), seal: await value('seal'), decision: 'approve' };
}
