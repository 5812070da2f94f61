import type { RequestListener } from 'node:http';

import { expect, test } from '@jest/globals';

import { describeWithRedis } from '../../support/redis/describe-with-redis.ts';
import { aCaller } from '../../support/upstream-oauth/internal-tokens-fixture.ts';
import { startInternalTokensWorld } from '../../support/upstream-oauth/internal-tokens-world.ts';

const ALICE = aCaller();
const HOUR_SECONDS = 3600;
const REST_SECONDS = 2;

const JSON_TYPE = { 'content-type': 'application/json' };
const TOO_LONG = 300_000;

const MISBEHAVIOURS: readonly (readonly [string, RequestListener])[] = [
  ['hangs', () => undefined],
  ['closes the connection', (request) => request.destroy()],
  [
    'ends in the middle of its response',
    (request, response) => {
      response.writeHead(200, { ...JSON_TYPE, 'content-length': '100' });
      response.write('{"access_token":', () => request.destroy());
    },
  ],
  [
    'answers with far too much',
    (_request, response) => {
      response
        .writeHead(200, JSON_TYPE)
        .end(JSON.stringify({ access_token: 'x'.repeat(TOO_LONG) }));
    },
  ],
  [
    'redirects',
    (request, response) => {
      response.writeHead(307, { location: request.url }).end();
    },
  ],
];

describeWithRedis('A token endpoint', () => {
  test.each(MISBEHAVIOURS)(
    'that %s is asked once, costs nobody a token, and is used when it works again',
    async (_name, misbehave) => {
      await using world = await startInternalTokensWorld();
      const { authorizationServer, proxies, route, context } = world;
      const [{ tokens }] = proxies;
      await world.connect();
      world.advance(HOUR_SECONDS + 1);
      authorizationServer.replace('token', misbehave);
      const before = authorizationServer.hits('token');
      const expected = { status: 503, reason: 'upstream-authorization-unavailable' };
      await expect(tokens.tokenFor(ALICE, route, context)).rejects.toMatchObject(expected);
      await expect(tokens.tokenFor(ALICE, route, context)).rejects.toMatchObject(expected);
      expect(authorizationServer.hits('token') - before).toBe(1);
      expect(await tokens.isConnected(ALICE.session.identity, route)).toBe(true);

      authorizationServer.replace('token', undefined);
      world.advance(REST_SECONDS);
      const token = await tokens.tokenFor(ALICE, route, context);
      if (token === 'not-connected') throw new Error(token);
      expect(await authorizationServer.verify(token.accessToken)).not.toBeNull();
    },
  );
});
