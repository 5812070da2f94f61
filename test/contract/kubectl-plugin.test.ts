import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { parse } from 'yaml';

import { describeUnless } from '../support/describe-unless.ts';
import { createNamespace } from '../support/kubernetes/create-namespace.ts';
import { describeWithClusters } from '../support/kubernetes/describe-with-clusters.ts';
import { findKubectl } from '../support/kubernetes/find-kubectl.ts';
import { routesIn } from '../support/kubernetes/paths.ts';
import { openForAll } from '../support/open-for-all.ts';
import { aRoute } from '../support/resources.ts';
import { TemporaryDirectory } from '../support/temporary-directory.ts';
import { isRecord } from '../../shared/runtime/is-record.ts';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);

const kubectl = findKubectl();
const describeWithKubectl = describeUnless(
  kubectl === undefined ? 'no kubectl is installed to call the plugin' : undefined,
);

/** The names under which an installation has programs, and their files. */
async function programs(): Promise<readonly (readonly [string, string])[]> {
  const manifest: unknown = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const bin = isRecord(manifest) && isRecord(manifest['bin']) ? manifest['bin'] : {};
  return Object.entries(bin).map(([name, file]) => [name, join(ROOT, String(file))]);
}

describeWithClusters([], 'kubectl gatehouse', (openCluster) => {
  const cluster = openForAll(openCluster);
  let directory: TemporaryDirectory;
  let namespace: string;

  beforeEach(async () => {
    directory = await TemporaryDirectory.create();
    namespace = await createNamespace(cluster());
    const bin = join(directory.path, 'bin');
    await mkdir(bin);
    // As npm installs them.
    for (const [name, file] of await programs()) await symlink(file, join(bin, name));
    const spec = { from: `https://${namespace}.example.com` };
    await cluster().admin.request('POST', routesIn(namespace), aRoute(spec, { namespace }));
  });
  afterEach(() => directory[Symbol.asyncDispose]());

  /** Runs kubectl with the kubeconfig of a user, which has a context of its own. */
  async function plugin(...argv: readonly string[]): Promise<string> {
    const kubeconfig = join(directory.path, 'config');
    await writeFile(kubeconfig, await twoContexts());
    const path = [join(directory.path, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'];
    const environment = { PATH: path.join(':'), KUBECONFIG: kubeconfig, HOME: directory.path };
    // Its stdout alone is of interest: a kubectl may warn.
    const { stdout } = await run(kubectl ?? '', [...argv], { env: environment });
    return stdout;
  }

  /** A second context names a namespace, and the current one is of a cluster that is gone. */
  async function twoContexts(): Promise<string> {
    const config: unknown = parse(await readFile(cluster().adminKubeconfig, 'utf8'));
    if (!isRecord(config)) throw new Error('the kubeconfig of the tests is not one');
    const [clusters, contexts] = [config['clusters'], config['contexts']];
    if (!Array.isArray(clusters) || !Array.isArray(contexts)) throw new Error('no clusters');
    const [first] = contexts.filter(isRecord);
    const context = isRecord(first?.['context']) ? first['context'] : {};
    const gone = { name: 'gone', cluster: { server: 'https://127.0.0.1:1' } };
    return JSON.stringify({
      ...config,
      clusters: [...clusters.filter(isRecord), gone],
      contexts: [
        { name: 'team', context: { ...context, namespace } },
        { name: 'gone', context: { ...context, cluster: 'gone' } },
      ],
      'current-context': 'gone',
    });
  }

  describeWithKubectl('called by kubectl', () => {
    test('is found, and lists Routes of the namespace of the context', async () => {
      expect(await plugin('plugin', 'list')).toContain('/bin/kubectl-gatehouse\n');

      const table = await plugin('gatehouse', 'routes', '--context', 'team');
      expect(table).toMatch(/^NAME +FROM .*\napp +https:/);
      expect(table).toContain(`https://${namespace}.example.com`);
    });

    test('explains by the name of a Route in the namespace of the context', async () => {
      const settings = {
        ...{ apiVersion: 'gatehouse.dev/v1alpha1', kind: 'GatewaySettings' },
        ...{ metadata: { name: 'gatehouse', namespace }, spec: {} },
      };
      const path = `/apis/gatehouse.dev/v1alpha1/namespaces/${namespace}/gatewaysettings`;
      await cluster().admin.request('POST', path, {
        ...settings,
        spec: {
          identityProviders: [
            { name: 'idp', issuerUrl: 'https://idp.example.com', clientId: 'gatehouse' },
          ],
        },
      });

      const flags = ['--context', 'team', '--settings-namespace', namespace];
      const text = await plugin('gatehouse', 'explain', '--route', 'app', '--user', 'u', ...flags);
      expect(text).toMatch(/^allow/);
    });

    test('fails with the name of a context that there is not', async () => {
      await expect(plugin('gatehouse', 'status', '--context', 'nope')).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringContaining('the kubeconfig has no context nope'),
      });
      await expect(plugin('gatehouse', 'status')).rejects.toMatchObject({ code: 1 });
    });

    test('has the name by which it was called in its help', async () => {
      expect(await plugin('gatehouse', 'routes', '--help')).toMatch(
        /^Usage: kubectl gatehouse routes/,
      );
    });
  });
});
