import { expect, test } from '@jest/globals';

import { startUpstreamOAuthWorld } from '../../support/upstream-oauth/upstream-oauth-world.ts';

const QUARTER_OF_AN_HOUR_MS = 15 * 60_000;

test('a user connects although the authorization server has forgotten the gateway since', async () => {
  await using world = await startUpstreamOAuthWorld();
  const { authorizationServer } = world;
  expect((await world.visit(world.connectUrl('/alice'), 'alice')).status).toBe(200);
  expect(authorizationServer.hits('registration')).toBe(1);

  await authorizationServer.forget('Client');
  world.advance(QUARTER_OF_AN_HOUR_MS);
  expect((await world.visit(world.connectUrl('/bob'), 'bob')).status).toBe(200);
  expect(authorizationServer.hits('registration')).toBe(2);

  // The gateway is known now, so the next user is sent there with the same registration.
  world.advance(QUARTER_OF_AN_HOUR_MS);
  expect((await world.visit(world.connectUrl('/carol'), 'carol')).status).toBe(200);
  expect(authorizationServer.hits('registration')).toBe(2);
  const paths = world.application.requests.map(({ message }) => message.url);
  expect(paths).toEqual(['/alice', '/bob', '/carol']);
});
