import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';

import { runGatehouse, startGatehouse, type GatehouseProcess } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { send, type Answer } from '../support/http-client.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis, type TestRedis } from '../support/redis/start-redis.ts';

const PASSWORD = 'hunter2-hunter2';
const LISTEN = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'];

let directory: string;
let redis: TestRedis;
let port: number;

/** Path of a file of this test: the URL, the configuration, or the state. */
const at = (name: string): string => join(directory, name);

function run(): GatehouseProcess {
  return startGatehouse([
    ...['run', '--config', at('gatehouse.yaml'), '--dev-allow-loopback', ...LISTEN],
    ...['--redis-url-file', at('redis-url'), '--state-dir', at('state')],
  ]);
}

function register(): Promise<Answer> {
  return send(`http://localhost:${String(port)}/.gateway/mcp/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"redirect_uris":["http://127.0.0.1:1/callback"],"token_endpoint_auth_method":"none"}',
  });
}

async function clientsInRedis(): Promise<number> {
  const keys = await redis.send('KEYS', 'gatehouse:*client*');
  return Array.isArray(keys) ? keys.length : 0;
}

describeWithRedis('gatehouse run with state in Redis', () => {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-redis-'));
    redis = await startRedis({ password: PASSWORD });
    await writeFile(at('redis-url'), `${redis.url}\n`);
  });

  afterAll(async () => {
    await redis[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  beforeEach(async () => {
    port = await freePort();
    const from = `http://localhost:${String(port)}`;
    const route = { from, to: 'http://localhost:1', mcp: { server: {} } };
    const provider = { issuer: 'http://localhost:1', client_id: 'x', client_secret: 'x' };
    const configuration = {
      identity_providers: { company: provider },
      routes: [{ ...route, allow_any_authenticated_user: true }],
    };
    await writeFile(at('gatehouse.yaml'), JSON.stringify(configuration));
  });

  test('stores clients in Redis, and finds them after a restart', async () => {
    {
      await using gatehouse = run();
      await gatehouse.listening();
      expect((await register()).status).toBe(201);
      expect(gatehouse.log.filter(({ level }) => level !== 'info')).toEqual([]);
      gatehouse.signal('SIGTERM');
      expect(await gatehouse.exited()).toBe(0);
    }
    expect(await clientsInRedis()).toBe(1);
  });

  // If the process started with these, a deployment would replace the version that works.
  test.each([
    ['wrong password', 'default:hunter3-hunter3', '', 'WRONGPASS: user or password is wrong'],
    ['prefix that the user may not use', `limited:${PASSWORD}`, '?prefix=other', 'of this prefix'],
    ['user who may not run scripts', `silent:${PASSWORD}`, '', 'may not run eval'],
    ['database that does not exist', `default:${PASSWORD}`, '/99', 'it has no such database'],
  ])('does not start with a %s', async (_title, login, rest, reason) => {
    const allowed = ['~gatehouse:*', '&gatehouse:*', '+@all'];
    await redis.send('ACL', 'SETUSER', 'limited', 'on', `>${PASSWORD}`, ...allowed);
    await redis.send('ACL', 'SETUSER', 'silent', 'on', `>${PASSWORD}`, ...allowed, '-@scripting');
    const place = `127.0.0.1:${String(redis.port)}`;
    const { code, stdout, stderr } = await runGatehouse([
      ...['run', '--config', at('gatehouse.yaml'), '--dev-allow-loopback', ...LISTEN],
      ...['--redis-url', `redis://${login}@${place}${rest}`, '--state-dir', at('state')],
    ]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(reason) });
    expect(stderr).toContain(`Redis at ${place} cannot be used`);
    expect(stdout + stderr).not.toMatch(/hunter\d/);
  });

  test('starts while Redis is unreachable, logs that, is ready, and reconnects by itself', async () => {
    await redis.stop();
    await using gatehouse = run();
    const { admin } = await gatehouse.listening();
    expect(gatehouse.log).toContainEqual(expect.objectContaining({ level: 'warn' }));
    expect((await send(`http://${String(admin)}/readyz`)).status).toBe(200);
    const answer = await register();
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBeDefined();

    await redis.start();
    await eventually('clients can register again', async () => (await register()).status === 201);
    expect(JSON.stringify(gatehouse.log)).not.toContain(PASSWORD);
    await redis.stop();
    gatehouse.signal('SIGTERM');
    expect(await gatehouse.exited()).toBe(0);
    expect(JSON.stringify(gatehouse.log)).not.toContain(PASSWORD);
    await redis.start();
  });
});

test.each([
  [['--redis-url', `redis://:${PASSWORD}@localhost:x`, '--state-dir', '/nowhere'], '--redis-url: '],
  [['--redis-url', `redis://:${PASSWORD}@localhost`], '--sealing-keys-dir or --state-dir'],
])('gatehouse run refuses %j without showing the password', async (flags, reason) => {
  const { code, stdout, stderr } = await runGatehouse(['run', '--config', '/nowhere', ...flags]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(reason) });
  expect(stdout + stderr).not.toContain(PASSWORD);
});

test('gatehouse run --help does not show the password', async () => {
  const variables = { GATEHOUSE_REDIS_URL: `redis://:${PASSWORD}@localhost` };
  const { code, stdout, stderr } = await runGatehouse(['run', '--help'], variables);
  expect(code).toBe(0);
  expect(stdout).toContain('--redis-url URL');
  expect(stdout + stderr).not.toContain(PASSWORD);
});
