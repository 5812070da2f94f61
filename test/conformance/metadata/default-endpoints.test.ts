import { describe, expect, test } from '@jest/globals';

import { refresh, tokensOf } from '../../support/token-requests.ts';
import { startDefaultEndpointsWorld } from '../../support/default-endpoints-world.ts';
import { membersOf, send, type Answer } from '../../support/http-client.ts';
import { openForAll } from '../../support/open-for-all.ts';
import {
  authorize,
  callMcp,
  discover,
  postForm,
  redeem,
  register,
  signInClient,
  type FoundServer,
} from '../../support/signed-in-client.ts';
import { verifies } from '../../requirements/verifies.ts';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const PATHS = ['/authorize', '/token', '/register'];

const world = openForAll(startDefaultEndpointsWorld);

/** Returns a server as a client of MCP 2025-03-26 sees it that found no metadata. */
function withDefaults(server: FoundServer): FoundServer {
  return {
    ...server,
    authorizationEndpoint: `${server.issuer}/authorize`,
    tokenEndpoint: `${server.issuer}/token`,
    registrationEndpoint: `${server.issuer}/register`,
  };
}

/** Returns whether the token endpoint refused a form of `postUnknownClient`. */
function isFromTokenEndpoint({ status, body }: Answer): boolean {
  return status === 401 && body.includes('"invalid_client"');
}

function postUnknownClient(url: string): Promise<Answer> {
  const form = { grant_type: 'refresh_token', refresh_token: 'gtr_unknown', client_id: 'unknown' };
  return postForm(url, form);
}

describe('The default endpoints of MCP 2025-03-26', () => {
  for (const at of ['root', 'below'] as const) {
    verifies(
      ['as.default-endpoints', 'as.iss'],
      `a client that reads no metadata gets a token for an MCP route at the ${at} of a host`,
      async () => {
        const url = world().urls[at];
        const found = await discover(url);
        const server = withDefaults(found);
        const clientId = await register(server);
        const redirect = await authorize(server, clientId);
        expect(redirect.searchParams.get('iss')).toBe(new URL(url).origin);
        const code = redirect.searchParams.get('code') ?? '';
        const { accessToken } = tokensOf(await redeem(server, clientId, code));
        expect(await callMcp(url, accessToken, PING)).toMatchObject({ status: 200 });
      },
    );
  }

  verifies(
    'as.default-endpoints',
    'a client that restarts refreshes at /token before any other request',
    async () => {
      const client = await signInClient(world().urls.root);
      const restarted = { ...client, server: withDefaults(client.server) };
      const first = tokensOf(await refresh(restarted, client.refreshToken));
      const second = tokensOf(await refresh(client, first.refreshToken));
      expect(await callMcp(world().urls.root, second.accessToken, PING)).toMatchObject({
        status: 200,
      });
    },
  );

  verifies(
    ['as.default-endpoints', 'rs.audience'],
    'a refresh at /token of a host with several MCP routes gives a token for its own route',
    async () => {
      const { files, mail } = world().urls;
      for (const [own, other] of [
        [files, mail],
        [mail, files],
      ] as const) {
        const client = await signInClient(own);
        const restarted = { ...client, server: withDefaults(client.server) };
        const { accessToken } = tokensOf(await refresh(restarted, client.refreshToken));
        expect(await callMcp(own, accessToken, PING)).toMatchObject({ status: 200 });
        expect(await callMcp(other, accessToken, PING)).toMatchObject({ status: 401 });
      }
    },
  );

  verifies(
    'as.default-endpoints',
    'the default endpoints take the methods of the endpoints that they stand for',
    async () => {
      const { origin } = new URL(world().urls.root);
      expect(await send(`${origin}/token`)).toMatchObject({
        ...{ status: 405, headers: { allow: 'POST' } },
      });
      expect(await send(`${origin}/register`)).toMatchObject({
        ...{ status: 405, headers: { allow: 'POST' } },
      });
      const withoutClient = await send(`${origin}/authorize`);
      expect(withoutClient.status).toBe(400);
      expect(withoutClient.headers['content-type']).toContain('text/html');
    },
  );

  test('a request to a default endpoint never reaches the MCP server', async () => {
    const { origin } = new URL(world().urls.root);
    const before = world().upstream.requests.length;
    for (const path of PATHS) {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
        await send(origin + path, { method, headers: { authorization: 'Bearer gte_unknown' } });
      }
    }
    expect(world().upstream.requests).toHaveLength(before);
  });

  for (const path of ['/token/', '/Token', '//token', '/%74oken', '/token;a=b', '/x/token']) {
    test(`${path} is not the default endpoint, and its form is not answered by it`, async () => {
      const { origin } = new URL(world().urls.root);
      expect(isFromTokenEndpoint(await postUnknownClient(`${origin}/token`))).toBe(true);
      expect(isFromTokenEndpoint(await postUnknownClient(origin + path))).toBe(false);
    });
  }
});

describe('A default path that a Route owns', () => {
  for (const [how, host] of [
    ['by its own path', 'paths'],
    ['by a prefix', 'prefixes'],
    ['by a regular expression', 'expressions'],
    ['as the web route of all paths', 'catchAll'],
  ] as const) {
    verifies(
      'as.default-endpoints-yield',
      `a path that a Route owns ${how} stays its own`,
      async () => {
        for (const path of PATHS) {
          const answer = await send(`${world().hosts[host]}${path}`, {
            method: 'POST',
            body: 'a=b',
          });
          expect({ path, body: answer.body }).toEqual({ path, body: `web ${path}` });
        }
      },
    );
  }

  verifies(
    'as.default-endpoints-yield',
    'an MCP route at /token is called there, and has its tokens from the named endpoint',
    async () => {
      const url = world().urls.mcpAtToken;
      const { accessToken } = await signInClient(url);
      expect(await callMcp(url, accessToken, PING)).toMatchObject({ status: 200 });
      expect(isFromTokenEndpoint(await postUnknownClient(url))).toBe(false);
    },
  );

  verifies(
    ['as.default-endpoints-yield', 'mcp.endpoint-only'],
    'a sub-path /token of an MCP route is its own, and its host keeps the other default endpoints',
    async () => {
      const url = world().urls.subPath;
      const { accessToken } = await signInClient(url);
      expect(await callMcp(`${url}/token`, accessToken, PING)).toMatchObject({ status: 200 });
      expect(isFromTokenEndpoint(await postUnknownClient(`${url}/token`))).toBe(false);
      expect((await send(`${url}/register`, { method: 'POST', body: '{}' })).status).toBe(400);
    },
  );

  verifies(
    'as.default-endpoints-yield',
    'a path that an upstream may read as the path of a Route is no default endpoint',
    async () => {
      const answer = await postUnknownClient(`${world().hosts.otherCase}/token`);
      expect(answer.status).toBe(400);
      expect(membersOf(answer)).toMatchObject({ error: 'ambiguous-path' });
    },
  );

  verifies(
    'as.default-endpoints-yield',
    'a host without an MCP route has no default endpoints',
    async () => {
      for (const path of PATHS) {
        const answer = await send(`${world().hosts.web}${path}`, { method: 'POST', body: 'a=b' });
        expect({ path, status: answer.status }).toEqual({ path, status: 404 });
      }
    },
  );
});
