import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { runGatehouse, startGatehouse, type GatehouseProcess } from '../support/cli.ts';
import { freePort } from '../support/free-port.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const ANY_ADDRESS = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'];
const PUBLIC = 'allowPublicUnauthenticatedAccess: true';
const POLL_MS = 20;
const MAX_POLLS = 1000;

let directory = '';
let started: GatehouseProcess[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gatehouse-configuration-'));
});

afterEach(async () => {
  // Also where a test gave up before its end.
  await Promise.all(started.map((gatehouse) => gatehouse[Symbol.asyncDispose]()));
  started = [];
  await rm(directory, { recursive: true, force: true });
});

describe('gatehouse run', () => {
  test('takes a change live without dropping a request', async () => {
    await using one = await answering('one');
    await using two = await answering('two');
    const port = await freePort();
    await write('route.yaml', route('app', port, one.origin));
    await using gatehouse = await run();

    const loop = requestLoop(port);
    await loop.until('one');
    await write('route.yaml', route('app', port, two.origin));
    await loop.until('two');
    // A route beside it comes and goes, and its port with it.
    await write('other.yaml', route('other', await freePort(), one.origin));
    await until(() => changesOf(gatehouse) === 2);
    await rm(join(directory, 'other.yaml'));
    await until(() => changesOf(gatehouse) === 3);

    const answers = await loop.stop();
    expect(answers.filter((answer) => answer !== 'one' && answer !== 'two')).toEqual([]);
    expect(answers.lastIndexOf('one')).toBeLessThan(answers.lastIndexOf('two'));
    expect(answers.length).toBeGreaterThan(10);
  });

  test('reports an invalid change by its place, and goes on with the last good version', async () => {
    await using one = await answering('one');
    await using two = await answering('two');
    const [port, otherPort] = [await freePort(), await freePort()];
    await write(
      'routes.yaml',
      [route('app', port, one.origin), route('other', otherPort, one.origin)].join('---\n'),
    );
    await using gatehouse = await run();
    expect(await get(port)).toBe('one');

    const broken = `${route('app', port, two.origin)}  timeouts: { request: soon }\n`;
    await write('routes.yaml', [route('other', otherPort, two.origin), broken].join('---\n'));
    const record = await gatehouse.logged(({ message }) => message === 'invalid configuration');
    expect(record).toMatchObject({
      level: 'error',
      file: join(directory, 'routes.yaml'),
      document: 2,
      line: expect.any(Number),
      resource: 'Route default/app',
      path: 'spec.timeouts.request',
      reason: 'InvalidSpec',
      problem: expect.stringContaining('must be a duration'),
    });
    await until(async () => (await get(otherPort)) === 'two');
    expect(await get(port)).toBe('one');

    await write('routes.yaml', 'apiVersion: [');
    await gatehouse.logged(({ reason }) => reason === 'InvalidManifest');
    expect([await get(port), await get(otherPort)]).toEqual(['one', 'two']);
  });

  test('takes away what a deleted file had, and its listener', async () => {
    await using upstream = await answering('one');
    const [port, gonePort] = [await freePort(), await freePort()];
    await write('stays.yaml', route('stays', port, upstream.origin));
    await write('goes.yaml', route('goes', gonePort, upstream.origin));
    await using gatehouse = await run();
    expect(await get(gonePort)).toBe('one');

    await rm(join(directory, 'goes.yaml'));
    await until(async () => (await get(gonePort)) === 'refused');
    expect(await get(port)).toBe('one');
    expect(changesOf(gatehouse)).toBe(1);
  });

  test('listens on a port that a route names newly', async () => {
    await using upstream = await answering('one');
    const [port, newPort] = [await freePort(), await freePort()];
    await write('a.yaml', route('a', port, upstream.origin));
    await using gatehouse = await run();
    expect(await get(newPort)).toBe('refused');

    await write('b.yaml', route('b', newPort, upstream.origin));
    await until(async () => (await get(newPort)) === 'one');
    expect(changesOf(gatehouse)).toBe(1);
  });

  test('reads the plain form, and follows it', async () => {
    await using one = await answering('one');
    await using two = await answering('two');
    const port = await freePort();
    const plain = (to: string): string => `
cookie_expiration: 1h
routes:
  - from: http://localhost:${String(port)}
    to: ${to}
    allow_public_unauthenticated_access: true
`;
    await write('gatehouse.yaml', plain(one.origin));
    await using gatehouse = await run(['--config', join(directory, 'gatehouse.yaml')]);
    expect(await get(port)).toBe('one');
    await write('gatehouse.yaml', plain(two.origin));
    await until(async () => (await get(port)) === 'two');
    expect(changesOf(gatehouse)).toBe(1);
  });

  test('takes its flags from the environment', async () => {
    await using upstream = await answering('one');
    const port = await freePort();
    await write('a.yaml', route('a', port, upstream.origin));
    await using gatehouse = startGatehouse(['run'], {
      GATEHOUSE_CONFIG: directory,
      GATEHOUSE_LISTEN: '127.0.0.1:0',
      GATEHOUSE_ADMIN_LISTEN: '127.0.0.1:0',
    });
    const { addresses } = await gatehouse.listening();
    expect(addresses).toContain(`127.0.0.1:${String(port)}`);
    expect(await get(port)).toBe('one');
  });

  test('says on the admin port what it serves', async () => {
    const port = await freePort();
    await write('a.yaml', route('a', port, 'http://127.0.0.1:9'));
    await using gatehouse = await run();
    const { admin } = await gatehouse.listening();
    expect((await fetch(`http://${String(admin)}/readyz`)).status).toBe(200);
    const snapshot: unknown = await (await fetch(`http://${String(admin)}/debug/snapshot`)).json();
    expect(snapshot).toMatchObject({
      version: expect.stringMatching(/^[\da-f]{64}$/),
      resources: [{ key: 'route/default/a' }, { key: 'settings' }],
    });
  });

  test('keeps its keys in the state directory, and makes others without one', async () => {
    const port = await freePort();
    await write('a.yaml', route('a', port, 'http://127.0.0.1:9'));
    const keysOf = async (more: readonly string[]): Promise<unknown> => {
      await using gatehouse = await run(['--config', directory, ...more]);
      const response = await fetch(`http://localhost:${String(port)}/.gateway/jwks.json`);
      const keys: unknown = await response.json();
      gatehouse.signal('SIGTERM');
      return keys;
    };
    const state = ['--state-dir', join(directory, 'state')];
    const kept = await keysOf(state);
    expect(kept).toMatchObject({ keys: [{ alg: 'ES256' }] });
    expect(await keysOf(state)).toEqual(kept);
    expect(await keysOf([])).not.toEqual(kept);
  });

  test.each([
    {
      fault: 'nothing is valid',
      files: { 'a.yaml': route('a', 1, 'nowhere') },
      argv: [],
      code: 1,
      message: /there is no valid route in .*, and so nothing to serve/,
    },
    {
      fault: 'the settings are not valid',
      files: { 'a.yaml': route('a', 1, 'http://up'), 's.yaml': 'kind: GatewaySettings' },
      argv: [],
      code: 1,
      message: /the settings in .* are not valid/,
    },
    {
      fault: 'the development flag is set beside a public listener',
      files: {},
      argv: ['--dev-allow-loopback', '--listen', '0.0.0.0:0'],
      code: 2,
      message: /--dev-allow-loopback is refused/,
    },
    {
      fault: 'a flag is unknown',
      files: {},
      argv: ['--lisen', ':1'],
      code: 2,
      message: /unknown flag --lisen, did you mean --listen\?/,
    },
  ])('does not start when $fault', async ({ files, argv, code, message }) => {
    for (const [name, text] of Object.entries(files)) await write(name, text);
    const result = await runGatehouse(['run', '--config', directory, ...ANY_ADDRESS, ...argv]);
    expect(result.stderr).toMatch(message);
    expect(result.code).toBe(code);
  });

  test('does not start when its port is in use, and says which', async () => {
    await using upstream = await answering('one');
    await write('a.yaml', route('a', upstream.port, upstream.origin));
    const result = await runGatehouse(['run', '--config', directory, ...ANY_ADDRESS]);
    expect(result.stderr).toContain(
      `cannot listen on 127.0.0.1:${String(upstream.port)}: the port is in use`,
    );
    expect(result.code).toBe(1);
  });

  test('lets requests finish when it is asked to end, and exits with 0', async () => {
    await using upstream = await startUpstream(() => undefined);
    const port = await freePort();
    await write('a.yaml', route('a', port, upstream.origin));
    await using gatehouse = await run();
    const underWay = get(port);
    const { response } = await upstream.request(0);
    gatehouse.signal('SIGTERM');
    await gatehouse.logged(({ message }) => message === 'stopping');
    response.end('late');
    expect(await underWay).toBe('late');
    expect(await gatehouse.exited()).toBe(0);
  });

  test('exits at once when it is asked a second time', async () => {
    await using upstream = await startUpstream(() => undefined);
    const port = await freePort();
    await write('a.yaml', route('a', port, upstream.origin));
    await using gatehouse = await run();
    const underWay = get(port);
    await upstream.request(0);
    gatehouse.signal('SIGINT');
    await gatehouse.logged(({ message }) => message === 'stopping');
    gatehouse.signal('SIGINT');
    expect(await gatehouse.exited()).toBe(1);
    expect(await underWay).toBe('refused');
  });
});

describe('gatehouse validate', () => {
  test('prints every problem of every file, and exits with 1', async () => {
    await write('a.yaml', `${route('good', 8080, 'http://up')}---\n${route('bad', 8081, '5')}`);
    await write('b.yaml', 'kind: Route\nkind: Route\n');
    await write('c.yaml', 'cookie_expiry: 1h\nroutes:\n  - to: http://up\n    prefix: x\n');
    const { code, stdout } = await runGatehouse(['validate', '-f', directory]);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toEqual([
      expect.stringMatching(
        /a\.yaml:16 \(document 2\) Route default\/bad: spec\.to: must .* \[InvalidSpec\]$/,
      ),
      expect.stringMatching(
        /b\.yaml:2 \(document 1\) Map keys must be unique \[InvalidManifest\]$/,
      ),
      expect.stringMatching(
        /c\.yaml:1 \(document 1\) GatewaySettings default\/gatehouse: cookie_expiry: unknown key "cookie_expiry", did you mean "cookie_expiration"\? \[InvalidSpec\]$/,
      ),
      expect.stringMatching(/c\.yaml:3 .* routes\[0\]\.from: is required \[InvalidSpec\]$/),
      expect.stringMatching(
        /c\.yaml:4 .* routes\[0\]\.prefix: must begin with "\/" \[InvalidSpec\]$/,
      ),
      `${directory}: 5 problems`,
    ]);
    expect(code).toBe(1);
  });

  test('exits with 0 when all is good', async () => {
    await write('a.yaml', route('a', 8080, 'http://up'));
    const { code, stdout } = await runGatehouse(['validate', '-f', directory]);
    expect(stdout).toBe(`${directory}: no problems (1 Route)\n`);
    expect(code).toBe(0);
  });

  test('does not look for Services, and says so; what it can tell of a reference it does', async () => {
    const toService = route('a', 8080, '').replace(
      'to: ',
      'backendRefs: [{ name: app, port: 80 }]',
    );
    await write('a.yaml', toService);
    const good = await runGatehouse(['validate', '-f', directory]);
    expect(good.stdout).toBe(
      `${directory}: note: backendRefs of 1 Route not checked: there are Services in Kubernetes only\n` +
        `${directory}: no problems (1 Route)\n`,
    );
    expect(good.code).toBe(0);
    const served = await runGatehouse(['run', '--config', directory, ...ANY_ADDRESS]);
    expect(served.stdout).toContain('there are Services in Kubernetes only');
    expect(served.code).toBe(1);
    await write('a.yaml', toService.replace('name: app', 'kind: Bucket, name: app'));
    const wrong = await runGatehouse(['validate', '-f', directory]);
    expect(wrong.stdout).toContain('spec.backendRefs[0]: must be a Service of the core group');
    expect(wrong.code).toBe(1);
  });

  test('takes the examples of the definitions', async () => {
    const examples = join(import.meta.dirname, '../../crds/examples');
    const { code, stdout } = await runGatehouse(['validate', '-f', examples]);
    expect(stdout).toContain('no problems');
    expect(code).toBe(0);
  });

  test('takes plain http on loopback with the development flag only', async () => {
    await write('a.yaml', route('a', 8080, 'http://up').replace(PUBLIC, 'mcp: { server: {} }'));
    await write(
      's.yaml',
      `apiVersion: gatehouse.dev/v1alpha1
kind: GatewaySettings
metadata: { name: gatehouse }
spec: { identityProviders: [{ name: corp, issuerUrl: http://localhost:1, clientId: x }] }`,
    );
    expect((await runGatehouse(['validate', '-f', directory])).code).toBe(1);
    const withFlag = ['validate', '-f', directory, '--dev-allow-loopback'];
    expect((await runGatehouse(withFlag)).code).toBe(0);
  });

  test('names the variable of an invalid environment', async () => {
    await write('a.yaml', route('a', 8080, 'http://up'));
    const variables = { COOKIE_EXPIRATION: 'soon' };
    const { code, stdout } = await runGatehouse(['validate', '-f', directory], variables);
    expect(stdout).toMatch(
      /^environment GatewaySettings default\/gatehouse: COOKIE_EXPIRATION: must/,
    );
    expect(code).toBe(1);
  });

  test.each([
    { argv: ['validate'], code: 2, message: '--file FILE|DIR is required' },
    { argv: ['validate', '-f', '/nowhere.yaml'], code: 1, message: 'cannot read /nowhere.yaml' },
    { argv: ['vlidate'], code: 2, message: 'unknown command "vlidate", did you mean validate?' },
    { argv: [], code: 2, message: 'a command is missing' },
  ])('exits with $code for "gatehouse $argv"', async ({ argv, code, message }) => {
    const result = await runGatehouse(argv);
    expect(result.stderr).toContain(message);
    expect(result.code).toBe(code);
  });

  test.each([
    { argv: ['--help'], output: 'Usage: gatehouse COMMAND' },
    { argv: ['help', 'run'], output: '--config FILE|DIR  (required, GATEHOUSE_CONFIG)' },
    { argv: ['validate', '--help'], output: '-f, --file FILE|DIR' },
    { argv: ['--version'], output: 'gatehouse 0.' },
  ])('helps with "gatehouse $argv"', async ({ argv, output }) => {
    const result = await runGatehouse(argv);
    expect(result.stdout).toContain(output);
    expect(result.code).toBe(0);
  });
});

function route(name: string, port: number, to: string): string {
  return `
apiVersion: gatehouse.dev/v1alpha1
kind: Route
metadata: { name: ${name} }
spec:
  from: http://localhost:${String(port)}
  to: ${to}
  ${PUBLIC}
`;
}

async function write(name: string, text: string): Promise<void> {
  await writeFile(join(directory, name), text);
}

async function run(argv: readonly string[] = ['--config', directory]): Promise<GatehouseProcess> {
  const gatehouse = startGatehouse(['run', ...ANY_ADDRESS, ...argv]);
  started.push(gatehouse);
  await gatehouse.listening();
  return gatehouse;
}

async function answering(text: string): Promise<Upstream> {
  return startUpstream((_message, response) => void response.end(text));
}

/** The body of an answer; its status when it is no good; `refused` when there is none. */
async function get(port: number): Promise<string> {
  try {
    const response = await fetch(`http://localhost:${String(port)}/`);
    const body = await response.text();
    return response.ok ? body : `status ${String(response.status)}`;
  } catch {
    return 'refused';
  }
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let polls = 0; !(await isTrue()); polls += 1) {
    if (polls > MAX_POLLS) throw new Error('it never became true');
    await setTimeout(POLL_MS);
  }
}

/** How many changes it took live. */
function changesOf({ log }: GatehouseProcess): number {
  return log.filter(({ message }) => message === 'configuration applied').length;
}

interface RequestLoop {
  /** Resolves when an answer is this. */
  until(answer: string): Promise<void>;
  /** Every answer, in the order of their ends. */
  stop(): Promise<readonly string[]>;
}

/** Two clients that ask again and again. */
function requestLoop(port: number): RequestLoop {
  const answers: string[] = [];
  let isStopped = false;
  const client = async (): Promise<void> => {
    while (!isStopped) answers.push(await get(port));
  };
  const clients = Promise.all([client(), client()]);
  return {
    until: (answer) => until(() => answers.includes(answer)),
    stop: async () => {
      isStopped = true;
      await clients;
      return answers;
    },
  };
}
