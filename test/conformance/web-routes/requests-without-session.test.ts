import { describe, expect } from '@jest/globals';

import { BrowserJar } from '../../support/browser-jar.ts';
import { send, type RequestOptions } from '../../support/http-client.ts';
import { openForAll } from '../../support/open-for-all.ts';
import { NAVIGATION, startWebRoutesWorld } from '../../support/web-routes-world.ts';
import { verifies } from '../../requirements/verifies.ts';

type Headers = NonNullable<RequestOptions['headers']>;

const world = openForAll(startWebRoutesWorld);

describe('A request to a web route without a session', () => {
  const NAVIGATIONS: readonly (readonly [string, string, Headers])[] = [
    ['GET of a page', 'GET', NAVIGATION],
    ['GET of a page with an Accept header only', 'GET', { accept: 'text/html' }],
    ['HEAD of a page', 'HEAD', NAVIGATION],
    ['GET of a page with a bearer token', 'GET', { ...NAVIGATION, authorization: 'Bearer x' }],
  ];

  for (const [what, method, headers] of NAVIGATIONS) {
    verifies('web.sign-in-redirect', `a ${what} is redirected to the sign-in`, async () => {
      const arrivals = await world().arrivalsDuring(async () => {
        const answer = await send(`${world().app}/a?b`, { method, headers });
        expect(answer.status).toBe(303);
        expect(answer.headers.location).toMatch(
          new RegExp(`^${world().app}/\\.gateway/sign_in\\?request=`),
        );
        expect(answer.headers['cache-control']).toBe('no-store');
      });
      expect(arrivals).toBe(0);
    });
  }

  const OTHERS: readonly (readonly [string, string, Headers])[] = [
    ['GET of a script', 'GET', { 'sec-fetch-mode': 'cors', accept: 'text/html' }],
    ['GET of an image', 'GET', { 'sec-fetch-mode': 'no-cors', accept: 'image/*' }],
    ['GET of a program that accepts everything', 'GET', { accept: '*/*' }],
    ['GET that accepts JSON', 'GET', { accept: 'application/json' }],
    ['GET without headers', 'GET', {}],
    ['GET with a bearer token', 'GET', { authorization: 'Bearer opaque' }],
    ['posted form', 'POST', NAVIGATION],
    ['PUT', 'PUT', { accept: 'text/html' }],
    ['DELETE', 'DELETE', NAVIGATION],
    [
      'preflight',
      'OPTIONS',
      { origin: 'https://x.example', 'access-control-request-method': 'GET' },
    ],
  ];

  for (const [what, method, headers] of OTHERS) {
    verifies('web.sign-in-redirect', `a ${what} is refused and not redirected`, async () => {
      const arrivals = await world().arrivalsDuring(async () => {
        const answer = await send(`${world().app}/a?b`, { method, headers });
        expect({ status: answer.status, location: answer.headers.location }).toEqual({
          status: 401,
          location: undefined,
        });
        expect(answer.headers).not.toHaveProperty('set-cookie');
        expect(answer.body).toContain(answer.headers['x-request-id']);
      });
      expect(arrivals).toBe(0);
    });
  }

  const URLS = [
    ...['/', '/a%20b/c?x=1&y=%2F%26&z=a+b', '/x?y=?&&=', '/%C3%BC?q=%F0%9F%98%80#f'],
    ...['/a;b=c/d,e?(x)=*y', '/search?q=https://elsewhere.example/%2e%2e/', '/a//b/'],
  ];

  for (const url of URLS) {
    verifies(
      'web.sign-in-redirect',
      `the browser returns to ${url} after the sign-in`,
      async () => {
        const [target = ''] = url.split('#');
        const page = await world().signIn(new BrowserJar(), world().app + target);
        expect(page.status).toBe(200);
        expect(page.body).toBe(`upstream: ${target}`);
        expect(page.url).toBe(world().app + target);
      },
    );
  }

  verifies(
    'as.no-open-redirect',
    'the browser never goes to another host after the sign-in',
    async () => {
      for (const path of [
        '//evil.example/x',
        '//evil.example',
        '///evil.example',
        '//evil.example//',
      ]) {
        const page = await world().signIn(new BrowserJar(), world().app + path);
        expect(new URL(page.url).host).toBe(new URL(world().app).host);
        for (const { url } of page.hops) expect(new URL(url).hostname).not.toBe('evil.example');
      }
    },
  );
});
