import { connectKubernetes } from '../../../controller/kubernetes/connect-kubernetes.ts';
import type { KubernetesApi } from '../../../controller/kubernetes/kubernetes-api.ts';
import { ownNamespace } from '../../../controller/kubernetes/load-kubeconfig.ts';
import { CommandFailure } from '../../command-failure.ts';
import type { ControllerFlags } from './controller-flags.ts';

/** The cluster of a controller, and its namespace there. */
export interface FoundCluster {
  readonly api: KubernetesApi;
  readonly namespace: string;
}

/** Finds the API server and the namespace of a controller. Throws `CommandFailure`. */
export function findCluster({
  kubeconfig,
  namespace,
}: Pick<ControllerFlags, 'kubeconfig' | 'namespace'>): FoundCluster {
  const source = kubeconfig === undefined ? {} : { kubeconfig };
  let api;
  let own;
  try {
    api = connectKubernetes(source);
    own = namespace ?? ownNamespace(source);
  } catch (error) {
    throw new CommandFailure(error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
  if (own !== undefined) return { api, namespace: own };
  throw new CommandFailure('--namespace is needed: neither a pod nor the kubeconfig names one');
}
