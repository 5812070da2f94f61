import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createAdminClient } from './admin-client.ts';
import type { AdminClient } from './cluster.ts';
import { installDefinitions, OUR_DEFINITIONS } from './definitions/install-definitions.ts';
import { findEtcd } from './real/find-binaries.ts';
import { startApiextensionsApiserver } from './real/start-apiextensions-apiserver.ts';
import { startEtcd } from './real/start-etcd.ts';

/**
 * An API server that serves only our definitions: `k8s.io/apiextensions-apiserver`, which is easier to
 * get in a current version than kube-apiserver. Namespaces need not exist.
 */
export interface DefinitionsOnly extends AsyncDisposable {
  readonly admin: AdminClient;
}

/** The reason why there is none; undefined if there is one. */
export function noDefinitionsOnlyReason(): string | undefined {
  if (programName() === undefined) return 'APIEXTENSIONS_APISERVER does not name its program';
  return findEtcd() === undefined ? 'there is no etcd' : undefined;
}

/** Starts a server. */
export async function startDefinitionsOnly(): Promise<DefinitionsOnly> {
  const program = programName();
  const etcdProgram = findEtcd();
  if (program === undefined || etcdProgram === undefined)
    throw new Error(noDefinitionsOnlyReason());
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-kubernetes-'));
  stack.defer(async () => await rm(directory, { recursive: true, force: true }));
  const { url } = stack.use(await startEtcd(etcdProgram, directory));
  const { adminKubeconfig } = stack.use(
    await startApiextensionsApiserver({ program, etcdUrl: url, directory }),
  );
  const admin = stack.use(await createAdminClient(adminKubeconfig));
  await installDefinitions(admin, OUR_DEFINITIONS);
  const all = stack.move();
  return { admin, [Symbol.asyncDispose]: async () => await all.disposeAsync() };
}

function programName(): string | undefined {
  return process.env['APIEXTENSIONS_APISERVER'];
}
