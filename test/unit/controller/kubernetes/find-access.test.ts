import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import type { ClusterAccess } from '../../../../controller/kubernetes/cluster-access.ts';
import { connectKubernetes } from '../../../../controller/kubernetes/connect-kubernetes.ts';
import { findAccess } from '../../../../controller/kubernetes/find-access.ts';
import { podAccess } from '../../../../controller/kubernetes/pod-access.ts';
import { ROUTES } from '../../../../controller/kubernetes/resource-types.ts';
import { startHttpsServer, type HttpsServer } from '../../../support/https-server.ts';
import { TemporaryDirectory } from '../../../support/temporary-directory.ts';
import { createThrowawayAuthority } from '../../../support/throwaway-authority.ts';
import { writeInsecureKubeconfig } from '../../../support/kubernetes/write-insecure-kubeconfig.ts';

const EMPTY_LIST = JSON.stringify({ metadata: { resourceVersion: '1' }, items: [] });

let directory: TemporaryDirectory;
let server: HttpsServer;
let credentials: (string | undefined)[];
beforeEach(async () => {
  directory = await TemporaryDirectory.create();
  credentials = [];
  server = await startHttpsServer(['127.0.0.1'], (request, response) => {
    credentials.push(request.headers.authorization);
    response.end(EMPTY_LIST);
  });
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

/** Access as a pod whose ServiceAccount is in the directory of the test. */
function accessOfPod(host = '127.0.0.1'): ClusterAccess | null {
  const port = String(server.port);
  const environment = { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port };
  return podAccess(environment, directory.path);
}

async function writeServiceAccount(token: string, ca: string): Promise<void> {
  await directory.write('token', token);
  await directory.write('ca.crt', ca);
  await directory.write('namespace', 'gatehouse\n');
}

describe('a process in a pod', () => {
  test('calls the API server as its ServiceAccount, with the newest token', async () => {
    await writeServiceAccount('one\n', server.ca);
    const access = accessOfPod();
    if (access === null) throw new Error('there is a token');
    const api = connectKubernetes(access);

    await api.list(ROUTES, {});
    await directory.write('token', 'two');
    await api.list(ROUTES, {});

    expect(credentials).toEqual(['Bearer one', 'Bearer two']);
    expect(access.namespace).toBe('gatehouse');
  });

  // Attack: whoever answers in place of the API server would get the token.
  test('trusts the authorities of the ServiceAccount only', async () => {
    await writeServiceAccount('one', createThrowawayAuthority().ca);
    const access = accessOfPod();
    if (access === null) throw new Error('there is a token');

    await expect(connectKubernetes(access).list(ROUTES, {})).rejects.toThrow(/certificate/);

    expect(credentials).toEqual([]);
  });

  test('reaches an API server with an IPv6 address', async () => {
    await writeServiceAccount('one', server.ca);

    expect(accessOfPod('fd00::1')?.server).toBe(`https://[fd00::1]:${String(server.port)}`);
  });
});

describe('a process', () => {
  test('is not in a pod without a token, or without the address of the API server', async () => {
    expect(accessOfPod()).toBeNull();
    await writeServiceAccount('one', server.ca);
    expect(podAccess({}, directory.path)).toBeNull();
  });

  test('uses the kubeconfig that it is given, with its namespace', async () => {
    const kubeconfig = join(directory.path, 'kubeconfig');
    await writeInsecureKubeconfig(kubeconfig, 'http://127.0.0.1:1');

    const access = await findAccess({ kubeconfig }, {});

    expect(access).toMatchObject({ server: 'http://127.0.0.1:1', namespace: 'gatehouse' });
  });

  test('uses the kubeconfig of its user also in a pod', async () => {
    await writeServiceAccount('one', server.ca);
    expect(await findInHome()).toMatchObject({
      server: `https://127.0.0.1:${String(server.port)}`,
    });
    await mkdir(join(directory.path, '.kube'));
    const kubeconfig = join(directory.path, '.kube', 'config');
    await writeInsecureKubeconfig(kubeconfig, 'http://127.0.0.1:1');

    expect(await findInHome()).toMatchObject({ server: 'http://127.0.0.1:1' });
  });

  test('refuses to start without any access', async () => {
    await expect(findInHome()).rejects.toThrow('no API server: not in a pod');
  });
});

/** Finds the access of a user whose home is the directory of the test. */
async function findInHome(): Promise<ClusterAccess> {
  const before = { ...process.env };
  const environment = {
    HOME: directory.path,
    KUBECONFIG: '',
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: String(server.port),
  };
  // The reader of kubeconfigs looks there itself.
  Object.assign(process.env, environment);
  try {
    return await findAccess({ kubeconfig: undefined }, environment, directory.path);
  } finally {
    process.env = before;
  }
}
