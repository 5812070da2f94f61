import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type { Environment } from '../../shared/runtime/environment.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { podAccess } from './pod-access.ts';

/** The kubeconfig and the context in it that a user chose; undefined: the usual ones. */
export interface KubeconfigChoice {
  readonly kubeconfig: string | undefined;
  readonly context?: string | undefined;
}

/**
 * Finds how to reach the API server: by the given kubeconfig, else by one that `kubectl` finds
 * (`KUBECONFIG`, `~/.kube/config`), else as this pod.
 *
 * Throws if there is no way, or if a kubeconfig cannot be used. `serviceAccount` is as for `podAccess`.
 */
export async function findAccess(
  { kubeconfig, context }: KubeconfigChoice,
  environment: Environment,
  serviceAccount?: string,
): Promise<ClusterAccess> {
  if ((kubeconfig ?? context) === undefined && !hasKubeconfig(environment)) {
    const pod = podAccess(environment, serviceAccount);
    if (pod !== null) return pod;
  }
  // Loaded only for a kubeconfig: its reader is the client for all of Kubernetes, the largest package.
  const { kubeconfigAccess } = await import('./kubeconfig-access.ts');
  return kubeconfigAccess(kubeconfig, context);
}

function hasKubeconfig({ KUBECONFIG = '', HOME = '' }: Environment): boolean {
  return KUBECONFIG !== '' || (HOME !== '' && existsSync(join(HOME, '.kube', 'config')));
}
