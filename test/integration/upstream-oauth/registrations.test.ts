import { expect, test } from '@jest/globals';

import {
  GIVEN_CREDENTIALS,
  startUpstreamOAuthWorld,
} from '../../support/upstream-oauth/upstream-oauth-world.ts';

test.each([
  ['registers itself', {}],
  ['has credentials', GIVEN_CREDENTIALS],
])(
  'an application of an MCP client route gets signed-in users, and the gateway %s',
  async (_name, upstreamOauth2) => {
    await using world = await startUpstreamOAuthWorld({ upstreamOauth2 });
    const page = await world.visit(`${world.app}/start`);
    expect(page).toMatchObject({ status: 200, body: 'the application' });
    expect(world.application.requests.map(({ message }) => message.url)).toEqual(['/start']);
  },
);
