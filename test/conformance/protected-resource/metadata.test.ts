import { describe, expect } from '@jest/globals';

import { BrowserJar } from '../../support/browser-jar.ts';
import { startGatewayWithUsers } from '../../support/gateway-with-users.ts';
import { membersOf, send } from '../../support/http-client.ts';
import { openForAll } from '../../support/open-for-all.ts';
import {
  bearer,
  METADATA,
  post,
  startProtectedResourceWorld,
} from '../../support/protected-resource-world.ts';
import { challengeParameters, discover, signInClient } from '../../support/signed-in-client.ts';
import { verifies } from '../../requirements/verifies.ts';

const world = openForAll(startProtectedResourceWorld);

describe('Protected resource metadata', () => {
  verifies(
    ['rs.metadata', 'rs.challenge'],
    'protected resource metadata are at the URL of the challenge, and about the requested URL',
    async () => {
      const urls = [
        world().only,
        `${world().several}/files`,
        `${world().several}/files/drafts`,
        `${world().several}/mail`,
      ];
      for (const url of urls) {
        const { headers } = await post(url);
        const { resource_metadata: metadataUrl = '' } = challengeParameters(
          headers['www-authenticate'],
        );
        const answer = await send(metadataUrl);
        expect(answer.status).toBe(200);
        expect(answer.headers['content-type']).toBe('application/json');
        expect(membersOf(answer)).toMatchObject({
          resource: url,
          authorization_servers: [new URL(url).origin],
          bearer_methods_supported: ['header'],
        });
      }
    },
  );

  verifies(
    'rs.metadata',
    'metadata of a URL within a route are about that URL, and the token is valid for the whole route',
    async () => {
      const server = await discover(`${world().several}/files/reports/2026`);
      expect(server.resource).toBe(`${world().several}/files/reports/2026`);
      const { accessToken } = await signInClient(`${world().several}/files/reports/2026`);
      for (const path of ['/files', '/files/reports/2026', '/files/other']) {
        expect((await post(world().several + path, bearer(accessToken))).status).toBe(200);
      }
    },
  );

  verifies(
    'rs.metadata',
    'metadata are at the root and at the inserted path if a host has one MCP route',
    async () => {
      await using separate = await startGatewayWithUsers();
      const from = separate.originOf('prefixed');
      await separate.configure({
        mcp: {
          ...{ from, to: world().upstream.origin, prefix: '/mcp', mcp: { server: {} } },
          allowAnyAuthenticatedUser: true,
        },
      });
      for (const path of ['', '/', '/mcp', '/mcp/']) {
        const answer = await send(from + METADATA + path);
        expect({ path, ...membersOf(answer) }).toMatchObject({ path, resource: `${from}/mcp` });
      }
      expect((await send(`${from}${METADATA}/elsewhere`)).status).toBe(404);
    },
  );

  verifies(
    'rs.metadata',
    'metadata are absent at the root of a host with several MCP routes, and for paths outside of them',
    async () => {
      for (const path of ['', '/web', '/filesystem', '/mail/box', '/.gateway/mcp']) {
        expect((await send(world().several + METADATA + path)).status).toBe(404);
      }
    },
  );

  verifies(
    ['rs.metadata', 'as.metadata'],
    'the metadata documents need no token, never redirect, and answer HEAD without a body',
    async () => {
      const documents = [
        ...[METADATA, '/.well-known/oauth-authorization-server'],
        '/.well-known/openid-configuration',
      ];
      for (const path of documents) {
        const page = await new BrowserJar().open(world().only + path);
        expect({ path, status: page.status, hops: page.hops.length }).toEqual({
          path,
          status: 200,
          hops: 1,
        });
        const head = await send(world().only + path, { method: 'HEAD' });
        expect({ status: head.status, body: head.body }).toEqual({ status: 200, body: '' });
        expect(head.headers['content-length']).toBe(page.headers['content-length']);
        for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
          const answer = await send(world().only + path, { method });
          expect({ method, status: answer.status }).toEqual({ method, status: 405 });
        }
      }
    },
  );
});
