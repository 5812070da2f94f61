import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { askPort } from '../support/ask-port.ts';
import { startLocalStandalone, type LocalStandalone } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { publicRoute } from '../support/plain-route.ts';
import { TemporaryDirectory } from '../support/temporary-directory.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const ANY_ADDRESS = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'];

let directory: TemporaryDirectory;
beforeEach(async () => {
  directory = await TemporaryDirectory.create();
});
afterEach(() => directory[Symbol.asyncDispose]());

describe('a change of the configuration files', () => {
  test('takes effect without dropping a request', async () => {
    await using one = await answering('one');
    await using two = await answering('two');
    const port = await freePort();
    await directory.write('route.yaml', publicRoute('app', port, one.origin));
    await using gateway = await start();

    const loop = requestLoop(port);
    await loop.until('one');
    await directory.write('route.yaml', publicRoute('app', port, two.origin));
    await loop.until('two');
    // Meanwhile another route is added and removed, and its port with it.
    await directory.write('other.yaml', publicRoute('other', await freePort(), one.origin));
    await untilChanges(gateway, 2);
    await directory.remove('other.yaml');
    await untilChanges(gateway, 3);
    await loop.untilAnswered(10);

    const answers = await loop.stop();
    expect(answers.filter((answer) => answer !== 'one' && answer !== 'two')).toEqual([]);
    expect(answers.lastIndexOf('one')).toBeLessThan(answers.lastIndexOf('two'));
  });

  test('that is invalid is reported with its place, and the last good version serves', async () => {
    await using one = await answering('one');
    await using two = await answering('two');
    const [port, otherPort] = [await freePort(), await freePort()];
    const first = [
      publicRoute('app', port, one.origin),
      publicRoute('other', otherPort, one.origin),
    ];
    await directory.write('routes.yaml', first.join('---\n'));
    await using gateway = await start();
    expect(await askPort(port)).toBe('one');

    const broken = `${publicRoute('app', port, two.origin)}  timeouts: { request: soon }\n`;
    const next = [publicRoute('other', otherPort, two.origin), broken];
    const path = await directory.write('routes.yaml', next.join('---\n'));

    const record = await gateway.logged(({ message }) => message === 'invalid configuration');
    expect(record).toMatchObject({
      level: 'error',
      file: path,
      document: 2,
      line: expect.any(Number),
      resource: 'Route default/app',
      path: 'spec.timeouts.request',
      reason: 'InvalidSpec',
      problem: expect.stringContaining('must be a duration'),
    });
    await eventually('the valid route changed', async () => (await askPort(otherPort)) === 'two');
    expect(await askPort(port)).toBe('one');

    await directory.write('routes.yaml', 'apiVersion: [');
    await gateway.logged(({ reason }) => reason === 'InvalidManifest');
    expect([await askPort(port), await askPort(otherPort)]).toEqual(['one', 'two']);
  });

  test.each([
    { what: 'Latin-1', encoding: 'latin1', problem: 'byte 12 of the line is not UTF-8', line: 1 },
    { what: 'UTF-16', encoding: 'utf16le', problem: 'is UTF-16; save it as UTF-8', line: 1 },
  ] as const)(
    'in $what is reported with its place, and the last good version serves',
    async (one) => {
      await using good = await answering('good');
      await using bad = await answering('bad');
      const port = await freePort();
      const path = await directory.write('route.yaml', publicRoute('app', port, good.origin));
      await using gateway = await start();

      const text = `# Von Geschäftsführung\n${publicRoute('app', port, bad.origin)}`;
      await directory.write('route.yaml', Buffer.from(text, one.encoding));

      const record = await gateway.logged(({ message }) => message === 'invalid configuration');
      const { line } = one;
      const problem = expect.stringContaining(one.problem);
      expect(record).toMatchObject({ file: path, line, reason: 'InvalidManifest', problem });
      expect(record).not.toHaveProperty('resource');
      expect(record).not.toHaveProperty('path');
      expect(await askPort(port)).toBe('good');
    },
  );

  test('that deletes a file closes the listener of its route', async () => {
    await using upstream = await answering('one');
    const [port, gonePort] = [await freePort(), await freePort()];
    await directory.write('stays.yaml', publicRoute('stays', port, upstream.origin));
    await directory.write('goes.yaml', publicRoute('goes', gonePort, upstream.origin));
    await using gateway = await start();
    expect(await askPort(gonePort)).toBe('one');

    await directory.remove('goes.yaml');

    await eventually('its port is closed', async () => (await askPort(gonePort)) === 'refused');
    expect(await askPort(port)).toBe('one');
    expect(changesOf(gateway)).toBe(1);
  });

  test('that adds a port opens a listener on it', async () => {
    await using upstream = await answering('one');
    const [port, newPort] = [await freePort(), await freePort()];
    await directory.write('a.yaml', publicRoute('a', port, upstream.origin));
    await using gateway = await start();
    expect(await askPort(newPort)).toBe('refused');

    await directory.write('b.yaml', publicRoute('b', newPort, upstream.origin));

    await eventually('the new port answers', async () => (await askPort(newPort)) === 'one');
    expect(changesOf(gateway)).toBe(1);
  });

  test('takes effect when the file has the plain form', async () => {
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
    const path = await directory.write('gatehouse.yaml', plain(one.origin));
    await using gateway = await start(['--config', path]);
    expect(await askPort(port)).toBe('one');

    await directory.write('gatehouse.yaml', plain(two.origin));

    await eventually('the change serves', async () => (await askPort(port)) === 'two');
    expect(changesOf(gateway)).toBe(1);
  });
});

describe('a gateway that is configured by files', () => {
  test('reports the snapshot that it serves on the admin port', async () => {
    await directory.write('a.yaml', publicRoute('a', await freePort(), 'http://127.0.0.1:9'));
    await using gateway = await start();

    const admin = `http://${gateway.adminAddress}`;
    expect((await fetch(`${admin}/readyz`)).status).toBe(200);
    const snapshot: unknown = await (await fetch(`${admin}/debug/snapshot`)).json();
    expect(snapshot).toMatchObject({
      version: expect.stringMatching(/^[\da-f]{64}$/),
      resources: [{ key: 'route/default/a' }, { key: 'settings' }],
    });
  });

  test('keeps its keys in the state directory, and makes new ones without it', async () => {
    const port = await freePort();
    await directory.write('a.yaml', publicRoute('a', port, 'http://127.0.0.1:9'));
    const keysOf = async (more: readonly string[]): Promise<unknown> => {
      await using gateway = await start(['--config', directory.path, ...more]);
      expect(gateway.addresses).toContain(`127.0.0.1:${String(port)}`);
      const response = await fetch(`http://localhost:${String(port)}/.gateway/jwks.json`);
      return await response.json();
    };
    const state = ['--state-dir', join(directory.path, 'state')];

    const kept = await keysOf(state);

    expect(kept).toMatchObject({ keys: [{ alg: 'ES256' }] });
    expect(await keysOf(state)).toEqual(kept);
    expect(await keysOf([])).not.toEqual(kept);
  });

  test.each([
    {
      fault: 'no route is valid',
      files: { 'a.yaml': publicRoute('a', 1, 'nowhere') },
      message: /there is no valid route in .*, and so nothing to serve/,
    },
    {
      fault: 'the settings are not valid',
      files: { 'a.yaml': publicRoute('a', 1, 'http://up'), 's.yaml': 'kind: GatewaySettings' },
      message: /the settings in .* are not valid/,
    },
    {
      fault: 'there is no such directory',
      files: {},
      argv: ['--config', '/nowhere'],
      message: /cannot read \/nowhere: there is no such file or directory/,
    },
    {
      fault: 'the development flag is set and a listener is public',
      files: {},
      argv: ['--dev-allow-loopback', '--listen', '0.0.0.0:0'],
      message: /--dev-allow-loopback is refused/,
    },
    {
      fault: 'a flag is unknown',
      files: {},
      argv: ['--lisen', ':1'],
      message: /unknown flag --lisen, did you mean --listen\?/,
    },
  ])('does not start when $fault', async ({ files, argv = [], message }) => {
    for (const [name, text] of Object.entries(files)) await directory.write(name, text);

    await expect(start(['--config', directory.path, ...argv])).rejects.toThrow(message);
  });
});

function start(argv: readonly string[] = ['--config', directory.path]): Promise<LocalStandalone> {
  return startLocalStandalone([...ANY_ADDRESS, ...argv]);
}

function answering(text: string): Promise<Upstream> {
  return startUpstream((_message, response) => void response.end(text));
}

/** How many changes were applied while the gateway ran. */
function changesOf({ log }: LocalStandalone): number {
  return log.filter(({ message }) => message === 'configuration applied').length;
}

function untilChanges(gateway: LocalStandalone, count: number): Promise<number> {
  return eventually(`${String(count)} changes`, () => changesOf(gateway) === count);
}

interface RequestLoop {
  /** Waits for this answer. */
  until(answer: string): Promise<number>;
  /** Waits for this number of further answers. */
  untilAnswered(count: number): Promise<number>;
  /** Every answer, in the order in which they ended. */
  stop(): Promise<readonly string[]>;
}

/** Starts two clients that send one request after another. */
function requestLoop(port: number): RequestLoop {
  const answers: string[] = [];
  let isStopped = false;
  const client = async (): Promise<void> => {
    while (!isStopped) answers.push(await askPort(port));
  };
  const clients = Promise.all([client(), client()]);
  return {
    until: (answer) => eventually(`the answer ${answer}`, () => answers.includes(answer)),
    untilAnswered: (count) => {
      const before = answers.length;
      return eventually('more answers', () => answers.length >= before + count);
    },
    stop: async () => {
      isStopped = true;
      await clients;
      return answers;
    },
  };
}
