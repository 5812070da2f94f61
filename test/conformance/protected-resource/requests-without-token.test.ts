import { describe, expect } from '@jest/globals';

import { send, type RequestOptions } from '../../support/http-client.ts';
import { openForAll } from '../../support/open-for-all.ts';
import {
  cookiesAt,
  expectChallenge,
  METADATA,
  post,
  startProtectedResourceWorld,
} from '../../support/protected-resource-world.ts';
import { RawClient } from '../../support/raw-http.ts';
import { openMcpSession } from '../../support/open-mcp-session.ts';
import { verifies } from '../../requirements/verifies.ts';

const world = openForAll(startProtectedResourceWorld);

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

describe('A request to an MCP route without a bearer token', () => {
  const CREDENTIALS: readonly (readonly [string, () => RequestOptions['headers']])[] = [
    ['with nothing', () => ({})],
    ['with Basic credentials', () => ({ authorization: 'Basic YWxpY2U6c2VjcmV0' })],
    ['with an empty bearer value', () => ({ authorization: 'Bearer ' })],
    [
      'with a token of another scheme',
      () => ({ authorization: `DPoP ${world().client.accessToken}` }),
    ],
    ['with a token without a scheme', () => ({ authorization: world().client.accessToken })],
    ['with a token in a cookie', () => ({ cookie: `access_token=${world().client.accessToken}` })],
    ['with a token in another header', () => ({ 'x-access-token': world().client.accessToken })],
    ['with a session cookie', () => ({ cookie: cookiesAt(world().client.browser, world().only) })],
  ];

  for (const [what, headers] of CREDENTIALS) {
    verifies(
      ['mcp.token-required', 'rs.challenge', 'rs.token-in-header-only'],
      `a request ${what} is challenged without an error code`,
      () =>
        world().expectUpstreamUntouched(async () => {
          expectChallenge(await post(world().only, headers()), {
            metadata: world().only + METADATA,
          });
        }),
    );
  }

  verifies(
    'rs.token-in-header-only',
    'a request with a token in its query is challenged like one without a token',
    () =>
      world().expectUpstreamUntouched(async () => {
        const { accessToken } = world().client;
        for (const name of ['access_token', 'token', 'authorization']) {
          const answer = await post(`${world().only}/?${name}=${accessToken}`);
          expectChallenge(answer, { metadata: world().only + METADATA });
        }
      }),
  );

  verifies('mcp.token-required', 'a request without a token is refused whatever its method', () =>
    world().expectUpstreamUntouched(async () => {
      for (const method of ['GET', 'DELETE', 'POST']) {
        expectChallenge(await send(world().only, { method }), {
          metadata: world().only + METADATA,
        });
      }
    }),
  );

  verifies(
    'mcp.never-redirects',
    'a request without a token is never redirected to sign in, even from a browser',
    () =>
      world().expectUpstreamUntouched(async () => {
        const navigation = {
          accept: 'text/html,application/xhtml+xml',
          'sec-fetch-mode': 'navigate',
          'sec-fetch-dest': 'document',
        };
        for (const method of ['POST', 'DELETE']) {
          const answer = await send(world().only, { method, headers: navigation });
          expectChallenge(answer, { metadata: world().only + METADATA });
        }
        const signedIn = await world().client.browser.open(world().only);
        expect(signedIn.status).toBe(200);
        expect(signedIn.body).toContain('This is the address of an MCP server');
        expect(signedIn.hops).toHaveLength(1);
      }),
  );

  verifies(
    'rs.every-request',
    'a request without a token is refused after a valid one in the same connection and MCP session',
    async () => {
      const session = await openMcpSession(world().only, world().client.accessToken);
      await using connection = await RawClient.connect(world().gateway.port);
      const host = `Host: ${new URL(world().only).host}\r\n`;
      const head = `POST / HTTP/1.1\r\n${host}Mcp-Session-Id: ${session['mcp-session-id']}\r\n`;
      const rest = `Content-Type: application/json\r\nContent-Length: ${String(PING.length)}\r\n\r\n`;
      connection.send(
        `${head}Authorization: Bearer ${world().client.accessToken}\r\n${rest}${PING}`,
      );
      const first = await connection.response();
      connection.send(head + rest + PING);
      const second = await connection.response();
      expect([first.status, second.status]).toEqual([200, 401]);
    },
  );
});
