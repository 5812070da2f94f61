import { afterEach, beforeEach } from '@jest/globals';

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type KubernetesApi } from '../../../../controller/kubernetes/kubernetes-api.ts';
import { answerJson, ScriptedApiServer } from '../../../support/kubernetes/scripted-api-server.ts';
import { type ThrowawayAuthority } from '../../../support/throwaway-authority.ts';

export const ROUTES_PATH = '/apis/gatehouse.dev/v1alpha1/namespaces/apps/routes';

/** The API server of each test. */
export let server: ScriptedApiServer;
/** A connection to it. */
export let api: KubernetesApi;
/** A directory for files of the test. */
export let directory: string;

beforeEach(async () => {
  ({ server, api } = await ScriptedApiServer.start());
  directory = await mkdtemp(join(tmpdir(), 'gatehouse-kubernetes-'));
});

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

interface SecureServer extends AsyncDisposable {
  readonly url: string;
  readonly connections: () => number;
}

export async function startSecureServer(authority: ThrowawayAuthority): Promise<SecureServer> {
  let connections = 0;
  const secure: Server = createServer(authority.issue(['127.0.0.1']), (_request, response) => {
    answerJson(response, 200, { metadata: { resourceVersion: '1' }, items: [] });
  });
  secure.on('secureConnection', () => (connections += 1));
  secure.listen(0, '127.0.0.1');
  await once(secure, 'listening');
  // A TCP server's address is one.
  const { port } = secure.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${String(port)}`,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      secure.closeAllConnections();
      secure.close();
      await once(secure, 'close');
    },
  };
}

export async function writeKubeconfig(path: string, cluster: object): Promise<void> {
  const config = {
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'test', user: {} }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  };
  await writeFile(path, stringify(config));
}

export function identity(error: unknown): unknown {
  return error;
}
