import { afterAll, beforeAll, beforeEach, describe, expect } from '@jest/globals';

import { Sealer } from '../../proxy/crypto/sealer.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import {
  startGatewayWithUsers,
  type GatewayWithUsers,
  type Settings,
} from '../support/gateway-with-users.ts';
import { membersOf } from '../support/http-client.ts';
import {
  authorize,
  callMcp,
  discover,
  redeem,
  register,
  type FoundServer,
} from '../support/signed-in-client.ts';
import { expectInvalidGrant, refresh, revoke } from '../support/token-requests.ts';
import { verifies } from '../requirements/verifies.ts';

const ALICE = { user: 'alice', provider: 'test', email: 'alice@example.com' };

let world: GatewayWithUsers;
let mcp: string;
let server: FoundServer;
let seen = 0;

type Fields = Readonly<Record<string, unknown>>;

beforeAll(async () => {
  world = await startGatewayWithUsers();
  mcp = world.originOf('mcp');
  await serve();
  server = await discover(mcp);
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await serve();
  events();
});

function serve(settings: Settings = {}): Promise<void> {
  const to = 'http://127.0.0.1:1';
  const route = { from: mcp, to, mcp: { server: {} }, allowAnyAuthenticatedUser: true };
  return world.configure({ mcp: route }, settings);
}

/** Returns the audit records since the last call. */
function events(): readonly Fields[] {
  const all = world.gateway.logs().filter(({ service }) => service === 'audit');
  const fresh = all.slice(seen);
  seen = all.length;
  return fresh;
}

function names(records: readonly Fields[]): readonly unknown[] {
  return records.map(({ event }) => event);
}

describe('The audit log', () => {
  verifies(
    'audit.events',
    'names who let which application in, from the registration to the end of the grant',
    async () => {
      const clientId = await register(server);
      const redirected = await authorize(server, clientId);
      const code = redirected.searchParams.get('code') ?? '';
      const first = membersOf(await redeem(server, clientId, code));
      const refreshed = membersOf(
        await refresh({ server, clientId }, String(first['refresh_token'])),
      );
      const token = String(refreshed['refresh_token']);
      expect((await revoke({ server, clientId }, token)).status).toBe(200);

      const records = events();
      expect(names(records)).toEqual([
        ...['client-registered', 'sign-in-completed', 'consent-given', 'code-issued'],
        ...['code-redeemed', 'token-issued', 'token-refreshed', 'grant-revoked'],
      ]);
      for (const record of records) {
        expect(record).toMatchObject({ level: 'info', 'request-id': expect.any(String) });
      }
      const [registered, signedIn, consent, issued, redeemed, ...rest] = records;
      const client = { 'client-id': clientId, 'client-name': 'Test client', issuer: mcp };
      expect(registered).toMatchObject(client);
      expect(signedIn).toMatchObject(ALICE);
      const target = { 'redirect-target': '127.0.0.1:1', resource: mcp };
      expect(consent).toMatchObject({ ...ALICE, ...client, ...target });
      const grantId = consent?.['grant-id'];
      const signInId = signedIn?.['sign-in-id'];
      expect(signInId).toEqual(expect.any(String));
      expect(grantId).toEqual(expect.any(String));
      for (const record of [issued, redeemed, ...rest]) {
        expect(record).toMatchObject({
          ...client,
          resource: mcp,
          'grant-id': grantId,
          'sign-in-id': signInId,
        });
      }
      expect(rest.at(-1)).toMatchObject({ reason: 'client-request' });
      const secrets = [code, ...[first, refreshed].flatMap(secretsOf)];
      expect(secrets).toHaveLength(5);
      const log = JSON.stringify(world.gateway.logs());
      for (const secret of secrets) expect(log).not.toContain(secret);
    },
  );

  verifies('audit.events', 'names a replayed code and refresh token as warnings', async () => {
    const clientId = await register(server);
    const browser = new BrowserJar();
    const codeOf = async (): Promise<string> =>
      (await authorize(server, clientId, { browser })).searchParams.get('code') ?? '';
    const code = await codeOf();
    await redeem(server, clientId, code);
    events();
    expect((await redeem(server, clientId, code)).status).toBe(400);
    const reused = events();
    expect(names(reused)).toEqual(['code-reused', 'grant-revoked']);
    expect(reused[0]).toMatchObject({ level: 'warn', 'client-id': clientId });

    const first = String(
      membersOf(await redeem(server, clientId, await codeOf()))['refresh_token'],
    );
    const second = membersOf(await refresh({ server, clientId }, first));
    await refresh({ server, clientId }, String(second['refresh_token']));
    events();
    expect((await refresh({ server, clientId }, first)).status).toBe(400);
    const replayed = events();
    expect(names(replayed)).toEqual(['refresh-token-replayed', 'grant-revoked']);
    expect(replayed[0]).toMatchObject({ level: 'warn', reason: 'refresh-token-replayed' });
  });

  verifies('audit.events', 'names a denied consent, and a sign-in that was refused', async () => {
    const clientId = await register(server);
    const browser = new BrowserJar();
    await browser.open(`${mcp}/.gateway/callback?state=made-up&code=x`);
    const redirected = await authorize(server, clientId, { browser, decision: 'deny' });
    expect(redirected.searchParams.get('error')).toBe('access_denied');

    const [, refused, , denied] = events();
    expect(refused).toMatchObject({ event: 'sign-in-refused', reason: 'unknown-state' });
    expect(denied).toMatchObject({ event: 'consent-denied', ...ALICE, 'client-id': clientId });
    expect(denied).not.toHaveProperty('grant-id');
  });

  verifies(
    'audit.keys',
    'a token of a sealing key that is gone is refused as such in the log',
    async () => {
      const sealed = new Sealer([{ secret: Buffer.alloc(32, 1) }]).seal('[]', 'any');
      const clientId = await register(server);
      expect((await callMcp(mcp, `gte_${sealed}`, '{}')).status).toBe(401);
      expectInvalidGrant(await refresh({ server, clientId }, `gtr_${sealed}`));
      await new BrowserJar().open(`${mcp}/.gateway/sign_in?request=${sealed}`);
      const refused = world.gateway.logs().filter(({ reason }) => reason !== undefined);
      const [token, refreshToken, signIn] = refused.slice(-3);
      expect(token).toMatchObject({ reason: 'unknown-sealing-key' });
      expect(JSON.stringify(refreshToken?.['error'])).toContain('unknown-sealing-key');
      expect(JSON.stringify(signIn?.['error'])).toContain('unknown-sealing-key');
      expect(JSON.stringify(refused)).not.toContain(sealed);
    },
  );

  verifies(
    'audit.events',
    'has e-mail addresses and addresses of clients only if the operator lists them',
    async () => {
      const recordsWith = async (
        authorizeLogFields: NonNullable<Settings['authorizeLogFields']>,
      ): Promise<string> => {
        await serve({ authorizeLogFields });
        await authorize(server, await register(server));
        return JSON.stringify(events());
      };
      const neither = await recordsWith(['user']);
      expect(neither).toContain('alice');
      expect(neither).not.toContain('@example.com');
      expect(neither).not.toContain('"127.0.0.1"');
      const both = await recordsWith(['email', 'ip']);
      expect(both).toContain('"email":"alice@example.com"');
      expect(both).toContain('"ip":"127.0.0.1"');
    },
  );

  verifies('audit.events', 'names what a configuration changed that is applied', async () => {
    await serve({ authorizeLogFields: ['user'] });
    expect(events()).toMatchObject([
      {
        ...{ event: 'configuration-applied', level: 'info', resources: 1, kinds: { settings: 1 } },
        ...{ changes: [{ key: 'settings', change: 'changed' }], version: expect.any(String) },
      },
    ]);
    await serve({ authorizeLogFields: ['user'] });
    expect(events()).toEqual([]);
  });
});

function secretsOf(response: Fields): readonly string[] {
  return [String(response['access_token']), String(response['refresh_token'])];
}
