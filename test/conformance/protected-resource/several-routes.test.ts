import { describe, expect } from '@jest/globals';

import { BrowserJar } from '../../support/browser-jar.ts';
import { membersOf } from '../../support/http-client.ts';
import { openForAll } from '../../support/open-for-all.ts';
import {
  bearer,
  post,
  startProtectedResourceWorld,
} from '../../support/protected-resource-world.ts';
import {
  authorize,
  redeem,
  register,
  signInClient,
  type FoundServer,
} from '../../support/signed-in-client.ts';
import { verifies } from '../../requirements/verifies.ts';

const world = openForAll(startProtectedResourceWorld);

describe('Several MCP routes on one host', () => {
  verifies(
    ['rs.audience', 'tokens.external-limited'],
    'each route accepts its own token and refuses those of the others',
    async () => {
      const clients = {
        '/files': world().filesClient,
        '/files/drafts': await signInClient(`${world().several}/files/drafts`),
        '/mail': await signInClient(`${world().several}/mail`),
      };
      const outcomes: string[] = [];
      for (const [path, { accessToken }] of Object.entries(clients)) {
        for (const called of Object.keys(clients)) {
          const { status } = await post(world().several + called, bearer(accessToken));
          outcomes.push(`token of ${path} at ${called}: ${String(status)}`);
          expect(status).toBe(path === called ? 200 : 401);
        }
      }
      expect(outcomes).toHaveLength(9);
    },
  );

  verifies('rs.audience', 'the routes of a host accept the same registration', async () => {
    const browser = new BrowserJar();
    const clientId = await register(world().filesClient.server);
    for (const path of ['/files', '/mail']) {
      const server = { ...world().filesClient.server, resource: world().several + path };
      const redirect = await authorize(server, clientId, { browser });
      const answer = await redeem(server, clientId, redirect.searchParams.get('code') ?? '');
      const token = String(membersOf(answer)['access_token']);
      expect((await post(world().several + path, bearer(token))).status).toBe(200);
    }
  });

  describe('The resource of an authorization request', () => {
    const VARIANTS: readonly (readonly [string, string])[] = [
      ['as it is', '/files'],
      ['with a slash at its end', '/files/'],
      ['with a path inside of the route', '/files/a/b'],
      ['with a path that begins like another route’s', '/files/draftsman'],
    ];

    for (const [what, path] of VARIANTS) {
      verifies(
        'as.resource',
        `the resource ${what} (${path}) gives a token for the route`,
        async () => {
          const { server, clientId } = world().filesClient;
          const token = await tokenFor({ ...server, resource: world().several + path }, clientId);
          expect((await post(`${world().several}/files`, bearer(token))).status).toBe(200);
          expect((await post(`${world().several}/files/drafts`, bearer(token))).status).toBe(401);
        },
      );
    }

    verifies('as.resource', 'the resource in capitals gives a token for the route', async () => {
      const { server, clientId } = world().filesClient;
      const resource = `${world().several.replace('http://several', 'HTTP://SEVERAL')}/files`;
      const token = await tokenFor({ ...server, resource }, clientId);
      expect((await post(`${world().several}/files`, bearer(token))).status).toBe(200);
    });

    const FOREIGN: readonly (readonly [string, () => string])[] = [
      ['of the host itself', () => world().several],
      ['of a web route', () => `${world().several}/web`],
      ['in other capitals', () => `${world().several}/FILES`],
      ['of another host', () => world().only],
      ['of somebody else', () => 'https://mcp.example.com/files'],
      ['with a fragment', () => `${world().several}/files#x`],
      ['with a user', () => `${world().several.replace('http://', 'http://alice@')}/files`],
      ['of the gateway itself', () => `${world().several}/.gateway/mcp/token`],
      ['that is no URL', () => '/files'],
    ];

    for (const [what, resource] of FOREIGN) {
      verifies('as.resource', `the resource ${what} is refused as invalid_target`, async () => {
        const { server, clientId, browser } = world().filesClient;
        const foreign = { ...server, resource: resource() };
        const redirect = await authorize(foreign, clientId, { browser });
        expect(Object.fromEntries(redirect.searchParams)).toMatchObject({
          error: 'invalid_target',
          state: 'the-state',
          iss: world().several,
        });
      });
    }
  });
});

async function tokenFor(server: FoundServer, clientId: string): Promise<string> {
  const redirect = await authorize(server, clientId, { browser: world().filesClient.browser });
  const answer = await redeem(server, clientId, redirect.searchParams.get('code') ?? '');
  return String(membersOf(answer)['access_token']);
}
