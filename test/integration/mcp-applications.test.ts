import { describe, expect, test } from '@jest/globals';

import { ApplicationTokens } from '../../proxy/authentication/application-tokens.ts';
import { Sealer } from '../../proxy/crypto/sealer.ts';
import { endSignIn } from '../../proxy/identity/session/end-sign-in.ts';
import { verifies } from '../requirements/verifies.ts';
import { startApplicationWorld } from '../support/application-world.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import { membersOf, send } from '../support/http-client.ts';
import { openForAll } from '../support/open-for-all.ts';
import { signInClient } from '../support/signed-in-client.ts';
import { sessionCookieAt } from '../support/web-routes-world.ts';

const MINUTE = 60_000;

const LIST = '/.gateway/mcp/routes';

const world = openForAll(startApplicationWorld);

const applicationTokens = () =>
  new ApplicationTokens(new Sealer(world().users.gateway.sealingKeys));

const openToken = (token: string) => applicationTokens().open(token);

describe('The backend of an application', () => {
  verifies(
    'application.backend-gets-te',
    'gets an external token of the user, which opens every MCP server from another address without a cookie',
    async () => {
      const { server, serve, users } = world();
      await serve({ files: server('files'), mail: server('mail') });
      const token = await world().tokenOf();
      expect(await world().statusAt(users.originOf('files'), token)).toBe(200);
      expect(await world().statusAt(users.originOf('mail'), token)).toBe(200);
      const { headers } = await world().mcpServer.request(world().mcpServer.requests.length - 1);
      expect(JSON.stringify(headers)).not.toContain(token);
    },
  );

  test('gets it instead of what the client sends as Authorization', async () => {
    const browser = new BrowserJar();
    const token = await world().tokenOf(browser);
    const index = world().backend.requests.length;
    const cookie = sessionCookieAt(browser, world().app);
    for (const authorization of ['Bearer of-somebody-else', 'Basic dTpw', `Bearer ${token}x`]) {
      await send(world().app, { headers: { cookie, authorization } });
    }
    const got = world()
      .backend.requests.slice(index)
      .map(({ message }) => message.rawHeaders);
    expect(got).toHaveLength(3);
    for (const fields of got) {
      const values = fields.filter((_field, at) => /^authorization$/i.test(fields[at - 1] ?? ''));
      expect(values).toEqual([`Bearer ${token}`]);
    }
  });

  test('gets one token for many requests, and the next before the last ten minutes', async () => {
    const browser = new BrowserJar();
    const first = await world().tokenOf(browser);
    expect(await world().tokenOf(browser)).toBe(first);
    world().advance(4 * MINUTE);
    expect(await world().tokenOf(browser)).toBe(first);
    world().advance(2 * MINUTE);
    const second = await world().tokenOf(browser);
    expect(second).not.toBe(first);
    const { issuedAt = 0, expiresAt = 0 } = openToken(second) ?? {};
    expect(expiresAt - issuedAt).toBe(15 * MINUTE);
    world().advance(10 * MINUTE);
    expect(await world().statusAt(world().users.originOf('files'), first)).toBe(401);
    expect(await world().statusAt(world().users.originOf('files'), second)).toBe(200);
  });

  test('gets it with the handshake of a WebSocket too', async () => {
    const { app, backend, server, serve } = world();
    const route = { from: app, to: backend.origin, mcp: { client: {} }, allowWebsockets: true };
    await serve({ files: server('files'), app: { ...route, allowAnyAuthenticatedUser: true } });
    const browser = new BrowserJar();
    const token = await world().tokenOf(browser);
    const received = new Promise((resolve) => {
      backend.server.once('upgrade', ({ headers }, socket) => {
        socket.destroy();
        resolve(headers.authorization);
      });
    });
    const handshake = {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
    };
    const headers = {
      ...{ ...handshake, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
      ...{ origin: app, cookie: sessionCookieAt(browser, app) },
    };
    await send(app, { headers }).catch(() => undefined);
    expect(await received).toBe(`Bearer ${token}`);
    await serve({ files: server('files') });
  });

  verifies(
    'application.exempt-from-formats',
    'is reached with a session, whatever format the settings give bearer tokens',
    async () => {
      const { server, serve, app } = world();
      const browser = new BrowserJar();
      for (const bearerTokenFormat of ['idp_access_token', 'idp_identity_token'] as const) {
        await serve({ files: server('files') }, { bearerTokenFormat });
        const token = await world().tokenOf(browser);
        const cookie = sessionCookieAt(browser, app);
        const both = await send(app, { headers: { cookie, authorization: `Bearer ${token}` } });
        expect(both.status).toBe(200);
        expect(await world().statusAt(world().users.originOf('files'), token)).toBe(200);
        const { status } = await send(app, { headers: { authorization: `Bearer ${token}` } });
        expect(status).toBe(401);
      }
      await serve({ files: server('files') });
    },
  );
});

describe('An external token of an application', () => {
  test('opens no route of a web application, not even its own', async () => {
    const { server, serve, users, mcpServer } = world();
    const web = { from: users.originOf('web'), to: mcpServer.origin };
    await serve({ files: server('files'), web: { ...web, allowAnyAuthenticatedUser: true } });
    const headers = { authorization: `Bearer ${await world().tokenOf()}` };
    expect((await send(world().app, { headers })).status).toBe(401);
    expect((await send(web.from, { headers })).status).toBe(401);
    expect((await send(`${world().app}/.gateway/`, { headers })).body).not.toContain('alice');
    await serve({ files: server('files') });
  });

  test('does not pass the policy of an MCP server that denies its user', async () => {
    const { server, serve, users } = world();
    const policy = { allow: { and: [{ email: { is: 'carol@example.com' } }] } };
    await serve({ files: server('files'), admin: server('admin', { policy }) });
    expect(await world().statusAt(users.originOf('admin'), await world().tokenOf())).toBe(403);
    const ofCarol = await world().tokenOf(new BrowserJar(), 'carol');
    expect(await world().statusAt(users.originOf('admin'), ofCarol)).toBe(200);
  });

  test('counts at its own gateway only, even if another one has the same keys', async () => {
    const files = world().users.originOf('files');
    const claims = openToken(await world().tokenOf());
    if (claims === null) throw new Error('the token opens');
    expect(await world().statusAt(files, applicationTokens().issue(claims))).toBe(200);
    const foreign = applicationTokens().issue({ ...claims, gatewayId: 'another' });
    expect(await world().statusAt(files, foreign)).toBe(401);
  });

  test('is no token of a client for the authorization server', async () => {
    const files = world().users.originOf('files');
    const client = await signInClient(files);
    const token = await world().tokenOf();
    const post = (url: string, form: Record<string, string>) =>
      send(url, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ client_id: client.clientId, ...form }).toString(),
      });
    const { revocationEndpoint, tokenEndpoint } = client.server;
    expect((await post(revocationEndpoint, { token })).status).toBe(200);
    const refresh = { grant_type: 'refresh_token', refresh_token: token };
    expect(membersOf(await post(tokenEndpoint, refresh))).toMatchObject({ error: 'invalid_grant' });
    expect(await world().statusAt(files, token)).toBe(200);
  });

  test('ends when its user signs out, and the client of the same user continues', async () => {
    const files = world().users.originOf('files');
    const browser = new BrowserJar();
    const token = await world().tokenOf(browser);
    const client = await signInClient(files, { browser });
    expect(await world().statusAt(files, token)).toBe(200);
    await browser.submit(await browser.open(`${world().app}/.gateway/sign_out`));
    expect(await world().statusAt(files, token)).toBe(401);
    expect((await world().ask(LIST, token)).status).toBe(401);
    expect(await world().statusAt(files, client.accessToken)).toBe(200);
    await using peer = await world().users.startPeer();
    const elsewhere = { through: peer.port, headers: { authorization: `Bearer ${token}` } };
    expect((await send(world().app + LIST, elsewhere)).status).toBe(401);
  });

  test('ends when the application does', async () => {
    const { users, serve, server, tokenOf, statusAt, advance } = world();
    const files = users.originOf('files');
    const token = await tokenOf();
    expect(await statusAt(files, token)).toBe(200);
    await users.configure({ files: server('files') });
    advance(6000);
    expect(await statusAt(files, token)).toBe(401);
    await serve({ files: server('files') });
    expect(await statusAt(files, token)).toBe(200);
  });

  test('ends with the sign-in, at once', async () => {
    const { stores } = world().users.gateway;
    const token = await world().tokenOf();
    const files = world().users.originOf('files');
    expect(await world().statusAt(files, token)).toBe(200);
    const found = await stores.signIns.get(openToken(token)?.signInId ?? '');
    if (found === null) throw new Error('the sign-in is there');
    await endSignIn(found, stores);
    expect(await world().statusAt(files, token)).toBe(401);
  });
});
