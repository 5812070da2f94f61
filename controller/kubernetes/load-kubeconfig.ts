import { KubeConfig } from '@kubernetes/client-node';

import { errorCode } from '../../shared/runtime/error-code.ts';

/** Name of the context that client-node makes up when it finds no configuration at all. */
const MADE_UP_CONTEXT = 'loaded-context';

/**
 * Where the API server is, and who we are to it: from the given file, else as `kubectl` finds it
 * (`KUBECONFIG`, `~/.kube/config`), else as a pod of the cluster.
 *
 * Throws when there is none, or when it names no server.
 */
export function loadKubeconfig(file?: string): KubeConfig {
  const config = new KubeConfig();
  try {
    if (file === undefined) config.loadFromDefault();
    else config.loadFromFile(file);
  } catch (error) {
    const path = file ?? process.env['KUBECONFIG'] ?? 'of this user';
    const why = errorCode(error) ?? 'it is not a kubeconfig';
    // eslint-disable-next-line preserve-caught-error -- the parser quotes what it read: tokens
    throw new Error(`cannot read the kubeconfig ${path}: ${why}`);
  }
  if (file === undefined && config.getCurrentContext() === MADE_UP_CONTEXT) {
    throw new Error('no API server: not in a pod, and no kubeconfig is given (--kubeconfig FILE)');
  }
  if (config.getCurrentCluster() == null) {
    throw new Error('the kubeconfig names no cluster in its current context');
  }
  return config;
}

/** The namespace this process runs in, or that the context of the kubeconfig names. */
export function ownNamespace({ kubeconfig }: { readonly kubeconfig?: string }): string | undefined {
  const config = loadKubeconfig(kubeconfig);
  const namespace = config.getContextObject(config.getCurrentContext())?.namespace?.trim();
  return namespace === '' ? undefined : namespace;
}
