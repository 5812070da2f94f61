import { describe, expect, test } from '@jest/globals';

import { requireClick, requireWindow } from '../../../../proxy/endpoints/require-click.ts';
import type { RequestMessage } from '../../../../proxy/http/request-message.ts';
import { anOrigin } from '../../../support/an-origin.ts';

type Headers = Readonly<Record<string, string>>;

const ORIGIN = anOrigin('https://app.example.com');

const CLICK = {
  origin: ORIGIN,
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};
const USER = { 'sec-fetch-user': '?1' };

const SAFARI =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Safari/605.1.15';
const CHROME =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

/** A request with these header fields only. */
function requestWith(headers: Headers): { readonly message: RequestMessage } {
  // Nothing else of a message is read.
  return { message: { headers } as unknown as RequestMessage };
}

describe('a posted form', () => {
  test.each<[string, Headers]>([
    ['of a click in Chromium', { ...CLICK, ...USER, 'user-agent': CHROME }],
    ['of a click in Firefox', { ...CLICK, ...USER, 'user-agent': FIREFOX }],
    ['of Safari, which does not say whether there was a click', { ...CLICK, 'user-agent': SAFARI }],
    ['of a browser that sends none of the fields', { origin: ORIGIN }],
    ['of a browser that sends no Origin either', {}],
  ])('%s counts', (_title, headers) => {
    expect(() => {
      requireClick(requestWith(headers), ORIGIN);
    }).not.toThrow();
  });

  const without = (name: keyof typeof CLICK): Headers =>
    Object.fromEntries(Object.entries({ ...CLICK, ...USER }).filter(([key]) => key !== name));

  test.each<[string, Headers, string]>([
    ['of Chromium without a click', { ...CLICK, 'user-agent': CHROME }, 'no-click'],
    ['of Firefox without a click', { ...CLICK, 'user-agent': FIREFOX }, 'no-click'],
    ['of an unnamed browser without a click', CLICK, 'no-click'],
    [
      'of Safari that says there was no click',
      { ...CLICK, 'user-agent': SAFARI, 'sec-fetch-user': '?0' },
      'no-click',
    ],
    ['of another origin', { ...CLICK, ...USER, origin: 'https://evil.example' }, 'cross-site-form'],
    ['of an opaque origin', { origin: 'null' }, 'cross-site-form'],
    ['of another site', { ...CLICK, ...USER, 'sec-fetch-site': 'cross-site' }, 'cross-site-form'],
    ['of a sibling', { ...CLICK, ...USER, 'sec-fetch-site': 'same-site' }, 'cross-site-form'],
    ['of the address bar', { ...CLICK, ...USER, 'sec-fetch-site': 'none' }, 'cross-site-form'],
    ['of a script', { ...CLICK, ...USER, 'sec-fetch-mode': 'cors' }, 'not-a-navigation'],
    ['of a script in mode same-origin', { 'sec-fetch-mode': 'same-origin' }, 'not-a-navigation'],
    ['of a frame', { ...CLICK, ...USER, 'sec-fetch-dest': 'iframe' }, 'not-a-navigation'],
    ['of a worker', { ...CLICK, ...USER, 'sec-fetch-dest': 'empty' }, 'not-a-navigation'],
    ['without the site', without('sec-fetch-site'), 'cross-site-form'],
    ['without the mode', without('sec-fetch-mode'), 'not-a-navigation'],
    ['without the destination', without('sec-fetch-dest'), 'not-a-navigation'],
    ['with nothing but a click', USER, 'cross-site-form'],
  ])('%s is refused', (_title, headers, reason) => {
    expect(() => {
      requireClick(requestWith(headers), ORIGIN);
    }).toThrow(expect.objectContaining({ reason, status: 403 }));
  });
});

describe('a page with a form', () => {
  const { origin, ...navigation } = CLICK;

  test.each<[string, Headers]>([
    ['a link of another site', { ...navigation, 'sec-fetch-site': 'cross-site' }],
    ['the address bar', { ...navigation, ...USER, 'sec-fetch-site': 'none' }],
    ['a redirect', navigation],
    ['a browser that sends none of the fields', { origin }],
  ])('is shown to %s', (_title, headers) => {
    expect(() => {
      requireWindow(requestWith(headers));
    }).not.toThrow();
  });

  test.each<[string, Headers]>([
    ['a script', { ...navigation, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
    ['a script without CORS', { ...navigation, 'sec-fetch-mode': 'no-cors' }],
    ['a frame', { ...navigation, 'sec-fetch-dest': 'iframe' }],
    ['an object', { ...navigation, 'sec-fetch-dest': 'object' }],
    ['an image', { ...navigation, 'sec-fetch-dest': 'image' }],
    ['a window that loads it in advance', { ...navigation, 'sec-purpose': 'prefetch;prerender' }],
    ['a service worker', { ...navigation, 'service-worker-navigation-preload': 'true' }],
    ['a link that loads it in advance', { ...navigation, 'sec-purpose': 'prefetch' }],
  ])('is not shown to %s', (_title, headers) => {
    expect(() => {
      requireWindow(requestWith(headers));
    }).toThrow(expect.objectContaining({ reason: 'not-a-navigation' }));
  });
});
