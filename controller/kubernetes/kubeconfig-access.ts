import type { RequestOptions } from 'node:https';

import { KubeConfig } from '@kubernetes/client-node';

import { errorCode } from '../../shared/runtime/error-code.ts';
import type { ClusterAccess, ClusterCredentials } from './cluster-access.ts';

/** The context that client-node invents when it finds no configuration. */
const INVENTED_CONTEXT = 'loaded-context';

/**
 * Access as a kubeconfig describes it: the given file, or those that `kubectl` finds (`KUBECONFIG`,
 * `~/.kube/config`); in the given context, or in its current one.
 *
 * Throws if there is no configuration, or if it names no server, or one that must not be used.
 */
export function kubeconfigAccess(file?: string, context?: string): ClusterAccess {
  const config = loadKubeconfig(file, context);
  const cluster = config.getCurrentCluster();
  // Throws for a server without TLS that is not marked as one.
  const dispatcher = config.createDispatcherOptions(cluster, {});
  const namespace = config.getContextObject(config.getCurrentContext())?.namespace?.trim();
  return {
    server: cluster?.server.replace(/\/+$/, '') ?? '',
    proxy: 'uri' in dispatcher ? dispatcher.uri : undefined,
    namespace: namespace === '' ? undefined : namespace,
    credentials: () => readCredentials(config),
  };
}

function loadKubeconfig(file: string | undefined, context: string | undefined): KubeConfig {
  const config = new KubeConfig();
  try {
    if (file === undefined) config.loadFromDefault();
    else config.loadFromFile(file);
  } catch (error) {
    const path = file ?? process.env['KUBECONFIG'] ?? 'of the user';
    const why = errorCode(error) ?? 'it is not a kubeconfig';
    // eslint-disable-next-line preserve-caught-error -- the parser quotes the file, which holds tokens
    throw new Error(`cannot read the kubeconfig ${path}: ${why}`);
  }
  if (file === undefined && config.getCurrentContext() === INVENTED_CONTEXT) {
    throw new Error('no API server: not in a pod, and no kubeconfig is given (--kubeconfig FILE)');
  }
  if (context !== undefined) {
    if (config.getContextObject(context) === null) {
      throw new Error(`the kubeconfig has no context ${context}`);
    }
    config.setCurrentContext(context);
  }
  if (config.getCurrentCluster() == null) {
    throw new Error('the kubeconfig names no cluster in its current context');
  }
  return config;
}

async function readCredentials(config: KubeConfig): Promise<ClusterCredentials> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const { ca, cert, key, servername, rejectUnauthorized } = options;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    headers[name.toLowerCase()] = String(value).trim();
  }
  if (options.auth != null) {
    headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  }
  const tls = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(servername !== undefined && { servername }),
    ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
  };
  return { tls, headers };
}
