import { once } from 'node:events';

import { beforeAll, describe, expect } from '@jest/globals';
import { decodeJwt } from 'jose';
import { WebSocket } from 'ws';

import { startBearerWorld } from '../../support/bearer-world.ts';
import { membersOf, send, type RequestOptions } from '../../support/http-client.ts';
import { openForAll } from '../../support/open-for-all.ts';
import { NAVIGATION, sessionCookieAt } from '../../support/web-routes-world.ts';
import { verifies } from '../../requirements/verifies.ts';

type Headers = NonNullable<RequestOptions['headers']>;

const NO_TOKEN = 'Bearer realm="gatehouse"';
const INVALID_TOKEN = 'Bearer error="invalid_token"';

const world = openForAll(startBearerWorld);
let token: string;

beforeAll(async () => {
  token = await world().machines.sign({ sub: 'robot' });
});

const bearer = (value = token): Headers => ({ authorization: `Bearer ${value}` });

/** The name of the session cookie, with a value that stands for nobody. */
function cookie(): string {
  return `gatehouse-${new URL(world().jwt).port}=${'A'.repeat(43)}`;
}

/** Sends a request that must not reach the upstream, and returns what was answered and logged. */
async function refusal(headers: Headers): Promise<object> {
  const before = world().upstream.requests.length;
  let answer: Awaited<ReturnType<typeof send>> | undefined;
  const reasons = await world().reasonsDuring(async () => {
    answer = await send(`${world().jwt}/x`, { headers });
  });
  expect(world().upstream.requests).toHaveLength(before);
  const { status, headers: fields, body } = answer ?? { status: 0, headers: {}, body: '' };
  expect(fields).not.toHaveProperty('location');
  expect(fields).not.toHaveProperty('set-cookie');
  expect(body).toContain(fields['x-request-id']);
  return { status, challenge: fields['www-authenticate'], body, reasons };
}

describe('A web route that interprets tokens', () => {
  const WITHOUT_TOKEN: readonly (readonly [string, () => Headers])[] = [
    ['nothing', () => ({})],
    ['a navigation of a browser', () => NAVIGATION],
    ['a session cookie only', () => ({ cookie: cookie() })],
    ['a navigation with a session cookie', () => ({ ...NAVIGATION, cookie: cookie() })],
    ['another scheme', () => ({ authorization: 'Basic YTpi' })],
    ['a scheme without a token', () => ({ authorization: 'Bearer' })],
    ['the token without a scheme', () => ({ authorization: token })],
  ];

  for (const [what, headers] of WITHOUT_TOKEN) {
    verifies('bearer.no-token', `a request with ${what} gets 401 and no redirect`, async () => {
      expect(await refusal(headers())).toMatchObject({
        status: 401,
        challenge: NO_TOKEN,
        reasons: ['no-token'],
      });
    });
  }

  const INVALID: readonly (readonly [string, () => Promise<string> | string, string])[] = [
    ['of a stranger', () => 'opaque', 'malformed-token'],
    ['that expired', () => world().machines.sign({ sub: 'robot', exp: 1 }), 'token-expired'],
    [
      'for somebody else',
      () => world().machines.sign({ sub: 'robot', aud: 'other' }),
      'wrong-audience',
    ],
    ['that was altered', () => `${token.slice(0, -5)}AAAAA`, 'bad-signature'],
    ['of 8,193 characters', () => 'x'.repeat(8193), 'token-too-long'],
    ['with a space', () => 'a b', 'malformed-token'],
    ['with a comma', () => `${token}, Bearer ${token}`, 'malformed-token'],
    ['with a quote', () => 'a"b', 'malformed-token'],
    ['beyond ASCII', () => 'a\u00fcb', 'malformed-token'],
    ['that is an external token', () => 'gte_x', 'malformed-token'],
    ['that is a refresh token', () => 'gtr_x', 'malformed-token'],
  ];

  for (const [what, invalid, reason] of INVALID) {
    verifies('bearer.invalid-token', `a token ${what} gets 401 invalid_token`, async () => {
      const sent = await invalid();
      const refused = await refusal(bearer(sent));
      expect(refused).toMatchObject({ status: 401, challenge: INVALID_TOKEN, reasons: [reason] });
      expect(refused).toMatchObject({ body: expect.stringContaining('"invalid-token"') });
      expect(JSON.stringify(world().users.gateway.logs())).not.toContain(sent.slice(0, 200) + '"');
    });
  }

  verifies('bearer.invalid-token', 'a browser gets a page for an invalid token', async () => {
    const refused = await refusal({ ...NAVIGATION, ...bearer('opaque') });
    expect(refused).toMatchObject({ status: 401, challenge: INVALID_TOKEN });
    expect(refused).toMatchObject({ body: expect.stringContaining('<html') });
  });

  const SEVERAL: readonly (readonly [string, () => Headers, string])[] = [
    [
      'a session cookie that is valid nowhere and a token',
      () => ({ ...bearer(), cookie: cookie() }),
      'cookie-and-bearer-token',
    ],
    [
      'an empty session cookie and a token',
      () => ({ ...bearer(), cookie: cookie().replace(/=.*/, '=') }),
      'cookie-and-bearer-token',
    ],
    [
      'two session cookies and a token',
      () => ({ ...bearer(), cookie: `${cookie()}; a=b; ${cookie()}` }),
      'cookie-and-bearer-token',
    ],
    [
      'a session cookie and an invalid token',
      () => ({ ...bearer('a b'), cookie: cookie() }),
      'cookie-and-bearer-token',
    ],
    [
      'two Authorization fields',
      () => ({ authorization: [`Bearer ${token}`, `Bearer ${token}`] }),
      'several-authorizations',
    ],
    [
      'two Authorization fields of two schemes',
      () => ({ authorization: ['Basic YTpi', `Bearer ${token}`] }),
      'several-authorizations',
    ],
  ];

  for (const [what, headers, reason] of SEVERAL) {
    verifies('bearer.cookie-and-token', `a request with ${what} gets 400`, async () => {
      const refused = await refusal(headers());
      expect(refused).toMatchObject({ status: 400, challenge: undefined, reasons: [reason] });
      expect(refused).toMatchObject({ body: expect.stringContaining(`"${reason}"`) });
    });
  }

  verifies('bearer.cookie-and-token', 'other cookies may accompany a token', async () => {
    const headers = { ...bearer(), cookie: 'a=b; gatehouse-1=c; mygatehouse=d' };
    expect((await send(world().jwt, { headers })).status).toBe(200);
  });

  verifies('bearer.cookie-and-token', 'a valid session beside a valid token gets 400', async () => {
    const browser = await world().signIn('alice');
    const [, value = ''] = sessionCookieAt(browser, world().people).split('=');
    const valid = cookie().replace(/=.*/, `=${value}`);
    expect(await refusal({ ...bearer(), cookie: valid })).toMatchObject({ status: 400 });
  });
});

describe('A valid token', () => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer ']) {
    verifies(
      'bearer.policy',
      `is accepted after the scheme ${JSON.stringify(scheme)}`,
      async () => {
        const headers = { authorization: `${scheme} ${token}` };
        expect((await send(world().jwt, { headers })).status).toBe(200);
      },
    );
  }

  verifies('bearer.policy', 'grants nothing that the policy does not', async () => {
    const other = await world().machines.sign({ sub: 'other-robot' });
    const before = world().users.gateway.decisions().length;
    const answer = await send(world().jwt, { headers: bearer(other) });
    expect(answer.status).toBe(403);
    expect(membersOf(answer)).toMatchObject({ request_id: answer.headers['x-request-id'] });
    const [decision] = world().users.gateway.decisions().slice(before);
    expect(decision).toMatchObject({ user: 'other-robot', allow: false });
  });

  verifies('bearer.policy', 'is judged by its claims', async () => {
    const deploy = { allow: { and: [{ 'claim/repository/name': 'example/app' }] } };
    await world().serve({}, { jwt: { policy: deploy } });
    const sign = (name: string) => world().machines.sign({ sub: 'ci', repository: { name } });
    const statuses = [];
    for (const name of ['example/app', 'example/other']) {
      statuses.push((await send(world().jwt, { headers: bearer(await sign(name)) })).status);
    }
    await world().serve();
    expect(statuses).toEqual([200, 403]);
  });

  verifies(
    'bearer.upstream',
    'stays at the gateway, and the assertion says whose it is',
    async () => {
      const { length } = world().upstream.requests;
      const headers = { ...bearer(), 'mcp-session-id': 'of-the-client', cookie: 'a=b' };
      await send(`${world().jwt}/x`, { headers });
      const { message } = await world().upstream.request(length);
      expect(message.headers).not.toHaveProperty('authorization');
      expect(message.rawHeaders.join(' ')).not.toContain(token);
      expect(message.headers).toMatchObject({ 'mcp-session-id': 'of-the-client', cookie: 'a=b' });
      expect(decodeJwt(String(message.headers['x-gateway-assertion']))).toMatchObject({
        sub: 'robot',
        iss: world().jwt,
      });
    },
  );
});

describe('A WebSocket on a route that interprets tokens', () => {
  const HANDSHAKE = {
    ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };

  verifies(
    'bearer.no-token',
    'is refused without a token, and with several credentials',
    async () => {
      expect(await refusal(HANDSHAKE)).toMatchObject({ status: 401, challenge: NO_TOKEN });
      const invalid = await refusal({ ...HANDSHAKE, ...bearer('x') });
      expect(invalid).toMatchObject({ status: 401, challenge: INVALID_TOKEN });
      const several = await refusal({ ...HANDSHAKE, ...bearer(), cookie: cookie() });
      expect(several).toMatchObject({ status: 400 });
    },
  );

  verifies('bearer.upstream', 'opens with a token, which the upstream does not get', async () => {
    const { host, port } = new URL(world().jwt);
    const arrival = once(world().upstream.server, 'upgrade');
    const webSocket = new WebSocket(`ws://127.0.0.1:${port}/x`, {
      headers: { host, authorization: `Bearer ${token}` },
    });
    await once(webSocket, 'open');
    const [message] = (await arrival) as [{ readonly headers: object }]; // as Node documents it
    webSocket.terminate();
    expect(message.headers).not.toHaveProperty('authorization');
    expect(message.headers).toHaveProperty('x-gateway-assertion');
  });
});

describe('The format of a route', () => {
  verifies('bearer.effective-format', 'is that of the settings if the route has none', async () => {
    await world().serve({ bearerTokenFormat: 'jwt' }, { access: { bearerTokenFormat: 'default' } });
    const [people, access, open] = await Promise.all(
      [world().people, world().access, world().open].map((url) => send(url, { headers: bearer() })),
    );
    const navigation = await send(world().access, { headers: NAVIGATION });
    await world().serve();
    expect([people?.status, access?.status, open?.status]).toEqual([200, 401, 200]);
    expect(access?.headers).not.toHaveProperty('www-authenticate');
    expect(navigation.status).toBe(303);
  });

  verifies(
    ['bearer.exempt', 'bearer.default-unchanged'],
    'does not apply to public routes, which pass the token on',
    async () => {
      await world().serve({ bearerTokenFormat: 'jwt' });
      const { length } = world().upstream.requests;
      await send(world().open, { headers: { ...bearer('x'), cookie: cookie() } });
      await world().serve();
      const { message } = await world().upstream.request(length);
      expect(message.headers.authorization).toBe('Bearer x');
    },
  );

  verifies('bearer.exempt', 'does not apply to the endpoints of the gateway', async () => {
    const headers = { ...bearer('x'), cookie: cookie() };
    expect((await send(`${world().jwt}/.gateway/jwks.json`, { headers })).status).toBe(200);
    const signIn = await send(`${world().jwt}/.gateway/sign_in`, {
      headers: { ...NAVIGATION, ...headers },
    });
    expect(signIn.status).toBe(303);
  });
});
