import { describe, expect } from '@jest/globals';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';

import { membersOf, send, type RequestOptions } from '../../support/http-client.ts';
import {
  gatewayCookies,
  MCP,
  PUBLIC,
  receivedFrom,
  startKindsOfRoute,
  valuesOf,
  WEB,
} from '../../support/kinds-of-route.ts';
import { openForAll } from '../../support/open-for-all.ts';
import { verifies } from '../../requirements/verifies.ts';

type Headers = NonNullable<RequestOptions['headers']>;

const ASSERTION = 'x-gateway-assertion';

const world = openForAll(startKindsOfRoute);

for (const kind of [MCP, WEB]) {
  const { name, origin } = kind;

  describe(`The assertion on ${name}`, () => {
    verifies(
      ['assertion.header', 'assertion.claims', 'assertion.verifiable'],
      'the assertion is verified by a standard library with the published keys, and identifies the user',
      async () => {
        const { host } = new URL(origin(world()));
        const before = Math.floor(Date.now() / 1000);
        const received = await receivedFrom(kind, world());
        const [assertion = '', ...more] = valuesOf(received, ASSERTION);
        expect(more).toEqual([]);

        const document = membersOf(await send(`${origin(world())}/.gateway/jwks.json`));
        // RFC 7517, section 5.
        const keys = createLocalJWKSet(document as unknown as JSONWebKeySet);
        const issuer = origin(world());
        const { payload, protectedHeader } = await jwtVerify(assertion, keys, {
          issuer,
          audience: host,
        });
        expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'JWT' });
        const { iat = 0, exp = 0, jti, ...claims } = payload;
        expect(claims).toEqual({
          ...{ iss: issuer, aud: host, sub: 'alice', email: 'alice@example.com' },
          ...{ name: 'Alice Adler', groups: ['engineering'], idp: world().identityIssuer },
        });
        expect(iat).toBeGreaterThan(before - 60);
        expect(exp).toBe(iat + 300);
        expect(jti).toMatch(/^[\w-]{16,}$/);
      },
    );

    const COPIES: readonly Headers[] = [
      { 'x-gateway-assertion': 'forged' },
      { 'X-GATEWAY-ASSERTION': 'forged' },
      { 'x-gateway-assertion': ['forged', 'forged'] },
      { x_gateway_assertion: 'forged' },
      { 'x-gateway_assertion': 'forged' },
      { 'x.gateway.assertion': 'forged' },
      { connection: 'x-gateway-assertion, close', 'x-gateway-assertion': 'forged' },
      { connection: 'x-gateway-assertion' },
    ];

    for (const headers of COPIES) {
      verifies(
        'assertion.header',
        `the assertion is the only one beside ${JSON.stringify(headers)}`,
        async () => {
          const received = await receivedFrom(kind, world(), headers);
          expect(JSON.stringify(received.headers)).not.toContain('forged');
          expect(valuesOf(received, ASSERTION)).toEqual([expect.stringMatching(/^ey[\w.-]+$/)]);
        },
      );
    }
  });
}

verifies(
  'assertion.header',
  'a public route gets no assertion, even for a user who is signed in',
  async () => {
    const cookie = gatewayCookies(world().client.browser, world().web);
    for (const headers of [{}, { cookie }, { 'x-gateway-assertion': 'forged' }]) {
      expect(valuesOf(await receivedFrom(PUBLIC, world(), headers), ASSERTION)).toEqual([]);
    }
  },
);

verifies(
  'assertion.claims',
  'the assertions for two hosts differ, and each is signed once',
  async () => {
    const [first] = valuesOf(await receivedFrom(MCP, world()), ASSERTION);
    const [second] = valuesOf(await receivedFrom(WEB, world()), ASSERTION);
    expect(second).not.toBe(first);
    // An assertion is signed once and used for many requests.
    expect(valuesOf(await receivedFrom(MCP, world()), ASSERTION)).toEqual([first]);
  },
);
