import { describe, expect, test } from '@jest/globals';

import { verifies } from '../requirements/verifies.ts';
import { startApplicationWorld } from '../support/application-world.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import { membersOf, send } from '../support/http-client.ts';
import { openForAll } from '../support/open-for-all.ts';
import { signInClient } from '../support/signed-in-client.ts';
import { sessionCookieAt } from '../support/web-routes-world.ts';

const LIST = '/.gateway/mcp/routes';
const DISCONNECT = '/.gateway/mcp/disconnect';

const world = openForAll(startApplicationWorld);

describe('The list of MCP servers', () => {
  verifies(
    'application.routes-lists-servers',
    'has the name, URL and state of each server, in the order of their names',
    async () => {
      const { server, serve, users } = world();
      const path = { ...server('zoo'), prefix: '/mail' };
      await serve({ zoo: server('zoo'), mail: path, files: server('files') });
      expect(await world().servers(await world().tokenOf())).toEqual([
        { name: 'files', url: users.originOf('files'), connected: true, needs_oauth: false },
        { name: 'mail', url: `${users.originOf('zoo')}/mail`, connected: true, needs_oauth: false },
        { name: 'zoo', url: users.originOf('zoo'), connected: true, needs_oauth: false },
      ]);
      await serve({ files: server('files') });
    },
  );

  verifies(
    'application.routes-by-policy',
    'has exactly the servers whose policy could allow the user something',
    async () => {
      const { server, serve } = world();
      const engineers = { groups: { has: 'engineering' } };
      const tools = { mcp_tool: { is: 'read' } };
      const nobody = { reject: true as const };
      await serve({
        all: server('all'),
        engineers: server('engineers', { policy: { allow: { and: [engineers] } } }),
        others: server('others', { policy: { allow: { not: [engineers] } } }),
        tools: server('tools', { policy: { allow: { and: [engineers, tools] } } }),
        'not-tools': server('not-tools', { policy: { allow: { not: [tools] } } }),
        denied: server('denied', {
          policy: { allow: { and: [engineers] }, deny: { or: [engineers] } },
        }),
        'denied-tools': server('denied-tools', {
          policy: { allow: { and: [engineers] }, deny: { nor: [tools] } },
        }),
        never: server('never', { policy: { allow: { or: [nobody] } } }),
      });
      const names = async (login: string) => {
        const servers = await world().servers(await world().tokenOf(new BrowserJar(), login));
        return (servers as { name: string }[]).map(({ name }) => name);
      };
      expect(await names('alice')).toEqual([
        'all',
        'denied-tools',
        'engineers',
        'not-tools',
        'tools',
      ]);
      expect(await names('bob')).toEqual(['all', 'not-tools', 'others']);
      await serve({ files: server('files') });
    },
  );

  test('has no server of the users of another identity provider', async () => {
    const { server, serve, users } = world();
    const { issuer, clientId } = users.identityProvider;
    const secret = { name: 'identity-provider', key: 'client-secret' };
    const provider = { issuerUrl: issuer, clientId, clientSecretRef: secret };
    await serve(
      { files: server('files'), other: server('other', { identityProvider: 'partner' }) },
      {
        identityProviders: [
          { ...provider, name: 'test' },
          { ...provider, name: 'partner', issuerUrl: `${issuer}/partner`, signIn: false },
        ],
      },
    );
    expect(await world().servers(await world().tokenOf())).toMatchObject([{ name: 'files' }]);
    await serve({ files: server('files') });
  });

  test.each<[string, string | undefined]>([
    ['without a token', undefined],
    ['with a token that is none', 'gte_x'],
  ])('is refused with 401 and JSON %s', async (_how, token) => {
    const answer = await world().ask(LIST, token);
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer /);
    expect(membersOf(answer)).toMatchObject({
      error: token === undefined ? 'no-token' : 'invalid-token',
    });
  });

  test('is refused to a cookie, to the token of a client, and to the token of another application', async () => {
    const { server, serve, users, backend } = world();
    const other = { from: users.originOf('other'), to: backend.origin, mcp: { client: {} } };
    await serve({ files: server('files'), other: { ...other, allowAnyAuthenticatedUser: true } });
    const browser = new BrowserJar();
    const token = await world().tokenOf(browser);
    const cookie = sessionCookieAt(browser, world().app);
    expect((await world().ask(LIST, undefined, { headers: { cookie } })).status).toBe(401);
    const client = await signInClient(users.originOf('files'));
    expect((await world().ask(LIST, client.accessToken)).status).toBe(401);
    const headers = { authorization: `Bearer ${token}` };
    expect((await send(other.from + LIST, { headers })).status).toBe(401);
    expect((await send(world().app + LIST, { headers })).status).toBe(200);
    await serve({ files: server('files') });
  });

  test('is at hosts with an application only, and not for other origins or methods', async () => {
    const token = await world().tokenOf();
    const headers = { authorization: `Bearer ${token}`, origin: 'https://evil.example' };
    expect((await send(world().users.originOf('files') + LIST, { headers })).status).toBe(404);
    const answer = await world().ask(LIST, token, { headers: { origin: 'https://evil.example' } });
    expect(answer.status).toBe(200);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
    });
    expect((await world().ask(LIST, token, { method: 'OPTIONS' })).status).toBe(405);
    expect((await world().ask(LIST, token, { method: 'POST' })).status).toBe(405);
    expect((await world().ask(DISCONNECT, token)).status).toBe(405);
  });
});
