import { describe, expect, test } from '@jest/globals';

import type { SingleUseStore } from '../../proxy/store/single-use-store.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import { send } from '../support/http-client.ts';
import {
  signInAt,
  signInUntil,
  startSignInWorld,
  upstreamAnswer,
  type SignInWorld,
} from '../support/sign-in-world.ts';

const MINUTE = 60_000;
const REQUESTS_PER_MINUTE = 1000;
const SIGN_IN_REQUEST = /sign_in\?request=/;

interface CountedWorld extends AsyncDisposable {
  readonly world: SignInWorld;
  readonly app: string;
  /** How many records were stored so far. */
  readonly saved: { pendingSignIns: number; signInCodes: number };
}

async function startCountedWorld(): Promise<CountedWorld> {
  const saved = { pendingSignIns: 0, signInCodes: 0 };
  const world = await startSignInWorld({
    wrapStores: (stores) => ({
      ...stores,
      pendingSignIns: counted(stores.pendingSignIns, () => (saved.pendingSignIns += 1)),
      signInCodes: counted(stores.signInCodes, () => (saved.signInCodes += 1)),
    }),
  });
  const app = world.originOf('app');
  await world.serve({ routes: [app], authenticateUrl: world.originOf('authenticate') });
  return { world, app, saved, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

function counted<Value>(store: SingleUseStore<Value>, count: () => void): SingleUseStore<Value> {
  return {
    save(key, value, ttlSeconds) {
      count();
      return store.save(key, value, ttlSeconds);
    },
    peek: (key) => store.peek(key),
    consume: (key) => store.consume(key),
  };
}

async function replay(url: string, cookie?: string): Promise<readonly number[]> {
  return sendAll(url, cookie === undefined ? {} : { cookie });
}

async function sendAll(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let request = 0; request < REQUESTS_PER_MINUTE; request += 1) {
    const answer = await send(url, { headers });
    statuses.push(answer.status);
  }
  return statuses;
}

describe('A sealed sign-in request that is replayed (eviction of pending sign-ins)', () => {
  test('stores no more sign-ins than one network may begin, and ends no other user’s sign-in', async () => {
    await using counting = await startCountedWorld();
    const { world, app, saved } = counting;
    const victim = new BrowserJar();
    const atProvider = await victim.open(`${app}/a`);
    const url = await signInUntil(new BrowserJar(), app, SIGN_IN_REQUEST);
    const statuses = await replay(url);
    const refused = await send(url);

    expect(statuses.at(0)).toBe(303);
    expect(saved).toEqual({ pendingSignIns: REQUESTS_PER_MINUTE, signInCodes: 0 });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused.headers['set-cookie']).toBeUndefined();
    const page = await victim.submit(atProvider, { login: 'alice' });
    expect(upstreamAnswer(page).url).toBe(`${app}/a`);
    world.advance(MINUTE);
    expect((await send(url)).status).toBe(303);
  });

  test('as an image of a web page counts for no network, so that its visitors can still sign in', async () => {
    await using counting = await startCountedWorld();
    const url = await signInUntil(new BrowserJar(), counting.app, SIGN_IN_REQUEST);
    const image = { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' };
    expect(new Set(await sendAll(url, image))).toEqual(new Set([403]));
    const window = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect((await send(url, { headers: window })).status).toBe(303);
    // What a service worker passes on.
    const passed = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'empty' };
    expect((await send(url, { headers: passed })).status).toBe(303);
  });

  test('stores no more codes than one network may request with a session', async () => {
    await using counting = await startCountedWorld();
    const { world, app, saved } = counting;
    const browser = new BrowserJar();
    await signInAt(browser, app);
    world.advance(MINUTE);
    const url = await signInUntil(new BrowserJar(), app, SIGN_IN_REQUEST);
    const { cookieName } = world;
    const session = browser.cookie('authenticate.localhost', cookieName)?.value ?? 'none';
    const cookie = `${cookieName}=${session}`;
    const before = saved.signInCodes;
    await replay(url, cookie);

    expect((await send(url, { headers: { cookie } })).status).toBe(429);
    expect(saved.signInCodes - before).toBe(REQUESTS_PER_MINUTE);
  });

  test('is not counted unless the gateway sealed it', async () => {
    await using counting = await startCountedWorld();
    const url = await signInUntil(new BrowserJar(), counting.app, SIGN_IN_REQUEST);
    const statuses = await replay(url.replace(/request=.*/, 'request=made-up'));

    expect(new Set(statuses)).toEqual(new Set([400]));
    expect((await send(url)).status).toBe(303);
  });
});
