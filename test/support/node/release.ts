import { join } from 'node:path';

import { stringify } from 'yaml';

import { kubectl } from './kubectl.ts';
import { BALANCER_IP } from './node-names.ts';
import {
  exampleHost,
  PROXIES_NAMESPACE,
  RELEASE_NAMESPACE,
  ROUTES_NAMESPACE,
} from './node-manifests.ts';
import { runCommand } from './run-command.ts';

/** Directory of this checkout's chart. */
export const CHART = join(import.meta.dirname, '../../../charts/gatehouse');
const RELEASE = 'gatehouse';
const TIMEOUT = '180s';

/** Values of the chart. */
export type ChartValues = Readonly<Record<string, unknown>>;

/** Values that every release of the tests needs. */
export const VALUES: ChartValues = {
  // Tests create them, as people do.
  settings: { create: false },
  routeSecretNamespaces: [ROUTES_NAMESPACE],
  // The default certificate covers it, so that `helm test` sees a challenge over TLS.
  test: { host: exampleHost('gatehouse-test') },
};

/** The release `gatehouse`. `install` and `upgrade` wait until everything of it is ready. */
export const release = {
  /** Of this checkout's chart, or of another one. */
  install: async (values: ChartValues, chart = CHART): Promise<string> =>
    await change('install', values, [chart, '--create-namespace']),

  /** To this checkout's chart. Changes some values, and keeps the others. */
  upgrade: async (values: ChartValues): Promise<string> =>
    await change('upgrade', values, [CHART, '--reuse-values']),

  /** If it is installed. */
  uninstall: async (): Promise<string> => await helm('uninstall', RELEASE, '--ignore-not-found'),

  /** Returns the manifests of its hooks. */
  hooks: async (): Promise<string> => await helm('get', 'hooks', RELEASE),

  /** Gives the Service of the proxies its address, as the controller of a load balancer does. */
  balance: async (): Promise<void> => {
    const status = { loadBalancer: { ingress: [{ ip: BALANCER_IP }] } };
    await kubectl(
      ...['--namespace', PROXIES_NAMESPACE, 'patch', 'service', 'gatehouse-proxy'],
      ...['--subresource=status', '--type=merge', '--patch', JSON.stringify({ status })],
    );
  },
};

async function change(
  verb: 'install' | 'upgrade',
  values: ChartValues,
  args: readonly string[],
): Promise<string> {
  const options = ['--namespace', RELEASE_NAMESPACE, '--wait', '--timeout', TIMEOUT];
  return await runCommand('helm', [verb, RELEASE, ...args, '--values', '-', ...options], {
    input: stringify(values),
  });
}

async function helm(...args: readonly string[]): Promise<string> {
  return await runCommand('helm', [...args, '--namespace', RELEASE_NAMESPACE]);
}
