import { describe, expect } from '@jest/globals';

import { openForAll } from '../../support/open-for-all.ts';
import {
  bearer,
  cookiesAt,
  post,
  startProtectedResourceWorld,
} from '../../support/protected-resource-world.ts';
import { signInClient } from '../../support/signed-in-client.ts';
import { verifies } from '../../requirements/verifies.ts';

const world = openForAll(startProtectedResourceWorld);

describe('A request with a valid token', () => {
  verifies(
    'mcp.token-required',
    'a token is accepted whatever the case of its scheme',
    async () => {
      for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
        const headers = { authorization: `${scheme} ${world().client.accessToken}` };
        expect((await post(world().only, headers)).status).toBe(200);
      }
    },
  );

  verifies(
    'mcp.token-required',
    'a session cookie beside a token is ignored, whether it is valid or not',
    async () => {
      const cookies = [cookiesAt(world().client.browser, world().only), 'gatehouse-1=x; a=b'];
      for (const cookie of cookies) {
        const answer = await post(world().only, { ...bearer(world().client.accessToken), cookie });
        expect(answer.status).toBe(200);
      }
    },
  );
});

verifies(
  'mcp.token-required',
  'a token stays valid when its user signs out, and the MCP host has no session',
  async () => {
    const { accessToken, browser } = await signInClient(world().only);
    await browser.submit(await browser.open(`${world().only}/.gateway/sign_out`));
    expect((await post(world().only, bearer(accessToken))).status).toBe(200);
    expect(browser.cookies.filter(({ host }) => host === new URL(world().only).hostname)).toEqual(
      [],
    );
  },
);
