import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';

import { isRecord } from '../../shared/runtime/is-record.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import type { CommandResult } from '../support/cli.ts';
import { runInProcess } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { startFleet, type GatewayFleet } from '../support/gateway-fleet.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis, type TestRedis } from '../support/redis/start-redis.ts';
import { callMcp, signInClient, type SignedInClient } from '../support/signed-in-client.ts';
import { TemporaryDirectory } from '../support/temporary-directory.ts';
import { expectInvalidGrant, refresh } from '../support/token-requests.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const PING = { jsonrpc: '2.0', id: 7, method: 'ping' };
const BOTH = [0, 1];

const started = new AsyncDisposableStack();
let redis: TestRedis;
let fleet: GatewayFleet;

/** Runs a command as in the pod of a proxy: with the variables of the proxy. */
function asOperator(...argv: readonly string[]): Promise<CommandResult> {
  return runInProcess(argv, {
    GATEHOUSE_REDIS_URL: redis.url,
    GATEHOUSE_SEALING_KEYS_DIR: fleet.sealingKeysDirectory,
    GATEHOUSE_OPERATOR: 'olivia',
  });
}

/** Returns the records of a member of what a command printed as JSON. */
async function listed(member: string, ...argv: readonly string[]) {
  const { code, stdout, stderr } = await asOperator(...argv, '-o', 'json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const value: unknown = JSON.parse(stdout);
  const rows = isRecord(value) ? value[member] : undefined;
  return Array.isArray(rows) ? rows.filter(isRecord) : [];
}

const sessionsOf = (email: string) => listed('sessions', 'sessions', 'list', '--email', email);

/** The lines of the audit log, which no gateway of a container takes here. */
function auditIn({ stderr }: CommandResult): readonly Readonly<Record<string, unknown>>[] {
  const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

async function statusAt(proxy: number, accessToken: string): Promise<number> {
  fleet.balancer.only(proxy);
  return (await callMcp(fleet.mcpUrl, accessToken, PING)).status;
}

/** Uses a token at both proxies, so that both have it in their caches. */
async function expectGood({ accessToken }: SignedInClient): Promise<void> {
  for (const proxy of BOTH) expect(await statusAt(proxy, accessToken)).toBe(200);
}

async function expectEnded({ accessToken }: SignedInClient): Promise<void> {
  for (const proxy of BOTH) {
    await eventually(`refused at ${String(proxy)}`, async () => {
      return (await statusAt(proxy, accessToken)) === 401;
    });
  }
}

async function isSignedIn(browser: BrowserJar): Promise<boolean> {
  return (await browser.open(fleet.webUrl, { stopAt: () => true })).status === 200;
}

async function signInBrowser(login: string): Promise<BrowserJar> {
  const browser = new BrowserJar();
  await browser.submit(await browser.open(fleet.webUrl), { login });
  browser.deleteCookies(({ host }) => host === '127.0.0.1');
  expect(await isSignedIn(browser)).toBe(true);
  return browser;
}

describeWithRedis('the commands of operators, with two proxies', () => {
  beforeAll(async () => {
    redis = started.use(await startRedis());
    fleet = started.use(await startFleet({ redisUrls: [redis.url, redis.url] }));
  });
  afterAll(() => started.disposeAsync());
  beforeEach(async () => {
    await redis.send('FLUSHALL');
    fleet.balancer.spread();
  });

  test('list who is signed in, with the clients, without a secret', async () => {
    const client = await signInClient(fleet.mcpUrl, { login: 'alice' });
    await signInBrowser('bob');
    const rows = await sessionsOf('Alice@Example.com');

    const user = { subject: 'alice', email: 'alice@example.com', provider: expect.any(String) };
    const times = { createdAt: expect.any(String), usedAt: expect.any(String) };
    expect(rows).toEqual([
      {
        ...{ kind: 'browser', user, id: expect.any(String), signInId: expect.any(String) },
        ...{ ...times, expiresAt: expect.any(String) },
      },
      {
        ...{ kind: 'client', user, id: expect.any(String), signInId: rows[0]?.['id'] },
        client: { id: client.clientId, name: expect.any(String), resource: fleet.mcpUrl },
        ...{ ...times, expiresAt: expect.any(String) },
      },
    ]);
    const { stdout } = await asOperator('sessions', 'list');
    expect(stdout).toMatch(/^ID +KIND +USER +PROVIDER +CLIENT +CREATED +LAST USED +EXPIRES\n/);
    expect(stdout.trimEnd().split('\n')).toHaveLength(4);
    expect(stdout).toContain('bob@example.com');
    for (const secret of [client.accessToken, client.refreshToken]) {
      expect(stdout + JSON.stringify(rows)).not.toContain(secret.slice(-20));
    }
  });

  test('list page by page', async () => {
    for (const login of ['carol', 'alice', 'bob']) await signInBrowser(login);
    const emails: unknown[] = [];
    let after: readonly string[] = [];
    for (;;) {
      const { stdout, stderr } = await asOperator(
        ...['sessions', 'list', '--limit', '1', '-o', 'json', ...after],
      );
      const { sessions, hasMore } = JSON.parse(stdout) as {
        sessions: readonly { id: string; user: { email: string } }[];
        hasMore: boolean;
      };
      emails.push(...sessions.map(({ user }) => user.email));
      if (!hasMore) break;
      const [, next = ''] = /--after (\S+) /.exec(stderr) ?? [];
      expect(next).toBe(sessions[0]?.id);
      after = ['--after', next];
    }
    expect(emails).toEqual(['alice@example.com', 'bob@example.com', 'carol@example.com']);
  });

  test('end everything of a user at every proxy, and of nobody else', async () => {
    const alice = await signInClient(fleet.mcpUrl, { login: 'alice' });
    const browser = await signInBrowser('alice');
    const bob = await signInClient(fleet.mcpUrl, { login: 'bob' });
    await expectGood(alice);
    const result = await asOperator('sessions', 'revoke', '--email', 'alice@example.com', '--yes');

    expect(result).toMatchObject({ code: 0, stdout: 'Ended.\n' });
    await expectEnded(alice);
    expect(await isSignedIn(browser)).toBe(false);
    expectInvalidGrant(await refresh(alice, alice.refreshToken));
    await expectGood(bob);
    expect(await sessionsOf('alice@example.com')).toEqual([]);
    expect(await sessionsOf('bob@example.com')).toHaveLength(2);
    const common = { operator: 'olivia', user: 'alice', reason: 'operator-request' };
    const audit = auditIn(result);
    expect(audit.map(({ event }) => event).sort()).toEqual([
      ...['grant-revoked', 'sign-in-ended', 'sign-in-ended'],
    ]);
    for (const line of audit) {
      expect(line).toMatchObject({ ...common, service: 'audit', level: 'info' });
      expect(line).not.toHaveProperty('email');
    }
    expect(result.stderr).toContain('no log of a gateway could be written');
  });

  test('end one client of a user by its id, and leave the browser', async () => {
    const browser = new BrowserJar();
    const client = await signInClient(fleet.mcpUrl, { login: 'alice', browser });
    const rows = await sessionsOf('alice@example.com');
    const [, grant] = rows;
    await expectGood(client);
    const result = await asOperator('sessions', 'revoke', String(grant?.['id']), '-y');

    expect(result.code).toBe(0);
    expect(auditIn(result)).toMatchObject([
      { event: 'grant-revoked', 'grant-id': grant?.['id'], 'client-id': client.clientId },
    ]);
    await expectEnded(client);
    expect((await sessionsOf('alice@example.com')).map(({ kind }) => kind)).toEqual(['browser']);
  });

  test('end a sign-in with the clients of it, and leave another sign-in of the user', async () => {
    const client = await signInClient(fleet.mcpUrl, { login: 'alice' });
    const browser = await signInBrowser('alice');
    const rows = await sessionsOf('alice@example.com');
    const ofClient = rows.find(({ kind }) => kind === 'client');
    const result = await asOperator('sessions', 'revoke', String(ofClient?.['signInId']), '-y');

    expect(auditIn(result).map(({ event }) => event)).toEqual(['sign-in-ended', 'grant-revoked']);
    await expectEnded(client);
    expect(await isSignedIn(browser)).toBe(true);
    expect(await sessionsOf('alice@example.com')).toHaveLength(1);
  });

  test('list clients, and end one for all users with its registration', async () => {
    const alice = await signInClient(fleet.mcpUrl, { login: 'alice' });
    const other = await signInClient(fleet.mcpUrl, { login: 'bob' });
    const clients = await listed('clients', 'clients', 'list');
    const issuer = new URL(fleet.mcpUrl).origin;
    expect(clients).toContainEqual({
      ...{ id: alice.clientId, issuer, kind: 'registered', name: expect.any(String), grants: 1 },
      ...{ usedAt: expect.any(String), registeredAt: expect.any(String) },
    });
    expect((await asOperator('clients', 'list')).stdout).toMatch(/^CLIENT +NAME +KIND +ISSUER /);

    const result = await asOperator('clients', 'revoke', alice.clientId, '--yes');
    expect(result.code).toBe(0);
    expect(auditIn(result)).toMatchObject([
      { event: 'client-removed', 'client-id': alice.clientId, issuer, operator: 'olivia' },
      { event: 'grant-revoked', 'client-id': alice.clientId, user: 'alice' },
    ]);
    await expectEnded(alice);
    await expectGood(other);
    expect((await listed('clients', 'clients', 'list')).map(({ id }) => id)).toEqual([
      other.clientId,
    ]);
  });

  test('end a client for one user, and leave its registration', async () => {
    const alice = await signInClient(fleet.mcpUrl, { login: 'alice' });
    const flags = ['--email', 'alice@example.com', '--yes'];
    const result = await asOperator('clients', 'revoke', alice.clientId, ...flags);

    expect(auditIn(result).map(({ event }) => event)).toEqual(['grant-revoked']);
    await expectEnded(alice);
    expect(await listed('clients', 'clients', 'list')).toMatchObject([
      { id: alice.clientId, grants: 0 },
    ]);
  });

  test('end nothing without a yes, and say what there is to end', async () => {
    const client = await signInClient(fleet.mcpUrl, { login: 'alice' });
    const result = await asOperator('sessions', 'revoke', '--user', 'alice');

    expect(result.code).toBe(2);
    expect(result.stderr).toContain(
      'This ends everything of alice@example.com (alice) of test: 1 sign-in and 1 grant of a client.\n--yes is required',
    );
    await expectGood(client);
  });

  test('say that somebody is not signed in, and that an id names nothing', async () => {
    const nobody = await asOperator('sessions', 'revoke', '--user', 'nobody', '--yes');
    expect(nobody).toMatchObject({ code: 1, stderr: 'Nobody who fits is signed in.\n' });
    const nothing = await asOperator('sessions', 'revoke', 'nothing', '--yes');
    expect(nothing).toMatchObject({ code: 1, stderr: 'There is no session nothing.\n' });
    const unknown = await asOperator('clients', 'revoke', 'unknown', '--yes');
    expect(unknown).toMatchObject({ code: 1, stderr: 'There is no such client.\n' });
  });

  test('with the wrong keys, say that sessions are left out, and fail', async () => {
    await signInBrowser('alice');
    await using directory = await TemporaryDirectory.create();
    await writeFile(join(directory.path, 'key'), Buffer.alloc(32, 'x'));
    const keys = ['--sealing-keys-dir', directory.path];
    const list = await asOperator('sessions', 'list', ...keys);
    expect(list).toMatchObject({ code: 1, stdout: '' });
    expect(list.stderr).toContain('1 records do not open with these sealing keys');

    const user = ['--email', 'alice@example.com', '--yes'];
    const end = await asOperator('sessions', 'revoke', ...user, ...keys);
    expect(end.code).toBe(1);
    expect(end.stderr).toContain('1 sign-in cannot be opened with these sealing keys');
    expect(await sessionsOf('alice@example.com')).toHaveLength(1);
  });

  test.each([
    { argv: ['sessions', 'revoke', '--yes'], message: 'give ids, or --email or --user' },
    { argv: ['sessions', 'revoke', 'id', '--user', 'a'], message: 'give ids, or --email' },
    { argv: ['sessions', 'revoke', '--provider', 'idp'], message: '--provider needs' },
    { argv: ['clients', 'revoke', 'id', '--provider', 'idp'], message: '--provider needs' },
    { argv: ['clients', 'revoke'], message: 'CLIENT... is required' },
    { argv: ['sessions', 'list', '--limit', '0'], message: '--limit is a number from 1' },
  ])('refuse $argv', async ({ argv, message }) => {
    const { code, stderr } = await asOperator(...argv);

    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

test('a command without Redis says that sessions are in the memory of the gateway', async () => {
  const { code, stderr } = await runInProcess(['sessions', 'list']);

  expect(code).toBe(2);
  expect(stderr).toContain('a gateway without Redis keeps its sessions in its own memory');
});

test('a Redis that does not answer is named, without its password', async () => {
  const url = 'redis://:s3cret@127.0.0.1:1';
  await using directory = await TemporaryDirectory.create();
  await writeFile(join(directory.path, 'key'), Buffer.alloc(32, 'x'));
  const { code, stderr } = await runInProcess([
    ...['sessions', 'list', '--redis-url', url, '--sealing-keys-dir', directory.path],
  ]);

  expect(code).toBe(1);
  expect(stderr).toMatch(/^gatehouse: Redis at .*127\.0\.0\.1:1.* cannot be used: /);
  expect(stderr).not.toContain('s3cret');
});
