import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { runGatehouse, startGatehouse } from '../support/cli.ts';
import { freePort } from '../support/free-port.ts';
import { publicRoute } from '../support/plain-route.ts';
import { LOADED_PACKAGES } from '../support/record-packages.ts';
import { TemporaryDirectory } from '../support/temporary-directory.ts';

const RECORDER = pathToFileURL(join(import.meta.dirname, '../support/record-packages.ts')).href;
const ANY_ADDRESS = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'];

/** What only the demo and its clients need, and what only `make generate` needs. */
const DEVELOPMENT = [
  'oidc-provider',
  '@modelcontextprotocol/server',
  'zod',
  'json-schema-traverse',
];
const KUBERNETES = ['@kubernetes/client-node'];
const REDIS = ['ioredis'];
const SIGN_IN = ['openid-client', 'jose'];
const FORWARDING = ['http-proxy'];
/** Formats metrics for the first reader. */
const METRICS = ['prom-client'];
const MANIFESTS = ['yaml', '@marcbachmann/cel-js', 'ajv', 'tldts'];

let directory: TemporaryDirectory;
let variables: Readonly<Record<string, string>>;
beforeEach(async () => {
  directory = await TemporaryDirectory.create();
  variables = {
    NODE_OPTIONS: `--import=${RECORDER}`,
    [LOADED_PACKAGES]: join(directory.path, 'packages'),
  };
});
afterEach(() => directory[Symbol.asyncDispose]());

/** The packages that the last process has loaded. */
async function loaded(): Promise<readonly string[]> {
  // The recorder writes this form.
  return JSON.parse(await readFile(join(directory.path, 'packages'), 'utf8')) as string[];
}

async function expectNone(packages: readonly string[]): Promise<void> {
  const all = await loaded();
  expect(all.filter((name) => packages.includes(name))).toEqual([]);
}

// What a command loads is most of what its start costs.
describe('the start of a command', () => {
  test('loads no package for the help', async () => {
    await runGatehouse(['--help'], variables);

    expect(await loaded()).toEqual([]);
  });

  test('loads for validate only what reads manifests', async () => {
    const file = await directory.write('a.yaml', publicRoute('a', 8080, 'http://127.0.0.1:1'));

    const { code } = await runGatehouse(['validate', '-f', file], variables);

    expect(code).toBe(0);
    await expectNone([...DEVELOPMENT, ...KUBERNETES, ...REDIS, ...SIGN_IN, ...FORWARDING]);
    await expectNone(['undici', 'winston']);
  });

  test('loads for explain what decides about requests, and nothing that forwards them', async () => {
    const file = await directory.write('a.yaml', publicRoute('a', 8080, 'http://127.0.0.1:1'));

    const { code } = await runGatehouse(['explain', '-f', file, '--dev-allow-loopback'], variables);

    expect(code).toBe(0);
    await expectNone([...DEVELOPMENT, ...KUBERNETES, ...REDIS, ...FORWARDING]);
  });

  test('loads for status nothing that validates or compiles manifests', async () => {
    const file = await directory.write('kubeconfig', 'no kubeconfig');

    const { stderr } = await runGatehouse(['status', '--kubeconfig', file], variables);

    expect(stderr).toContain('the kubeconfig names no cluster');
    expect(await loaded()).toContain('@kubernetes/client-node');
    await expectNone([...DEVELOPMENT, ...MANIFESTS, ...REDIS, ...FORWARDING, 'winston']);
  });

  test('loads for run neither the client of Kubernetes nor, without Redis, that of Redis', async () => {
    const port = await freePort();
    await directory.write('a.yaml', publicRoute('a', port, 'http://127.0.0.1:1'));
    {
      const flags = ['run', '--config', directory.path, ...ANY_ADDRESS];
      await using gatehouse = startGatehouse(flags, variables);
      await gatehouse.listening();
      gatehouse.signal('SIGTERM');
      expect(await gatehouse.exited()).toBe(0);
    }
    await expectNone([...DEVELOPMENT, ...KUBERNETES, ...REDIS, ...METRICS]);
  });

  test('loads for proxy nothing that reads manifests', async () => {
    const nowhere = join(directory.path, 'nowhere');

    const { stderr } = await runGatehouse(
      [
        ...['proxy', '--controller', 'https://localhost:1', '--controller-ca', nowhere],
        ...['--redis-url', 'redis://127.0.0.1:1', '--sealing-keys-dir', nowhere],
      ],
      variables,
    );

    expect(stderr).toContain(nowhere);
    expect(await loaded()).toContain('ioredis');
    await expectNone([...DEVELOPMENT, ...KUBERNETES, ...MANIFESTS]);
  });

  test('loads for controller nothing that serves requests, and what reads a kubeconfig only for one', async () => {
    const nowhere = join(directory.path, 'nowhere');

    const { stderr } = await runGatehouse(['controller', '--push-tls-dir', nowhere], variables);

    expect(stderr).toContain('--push-tls-dir');
    expect(await loaded()).toContain('@marcbachmann/cel-js');
    await expectNone([...DEVELOPMENT, ...KUBERNETES, ...REDIS, ...FORWARDING]);
  });
});
