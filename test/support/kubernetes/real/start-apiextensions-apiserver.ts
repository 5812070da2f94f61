import { join } from 'node:path';

import { writeKubeconfig } from '../write-kubeconfig.ts';
import { startServer, type RunningServer } from './start-server.ts';

/** Admission plugins that need resources which this server does not have. */
const PLUGINS = [
  'NamespaceLifecycle',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
];

/** Options of an apiextensions-apiserver. */
export interface ApiextensionsApiserverOptions {
  readonly program: string;
  readonly etcdUrl: string;
  /** Directory for its files. */
  readonly directory: string;
}

/**
 * Starts an apiextensions-apiserver: the part of kube-apiserver that serves custom resources, without
 * everything else.
 */
export async function startApiextensionsApiserver(
  options: ApiextensionsApiserverOptions,
): Promise<RunningServer> {
  const { program, etcdUrl, directory } = options;
  // It requires an API server to delegate to, and never delegates: the administrator needs no permission.
  const nowhere = join(directory, 'nowhere.kubeconfig');
  await writeKubeconfig(nowhere, { server: 'https://127.0.0.1:1' }, { token: 'none' });
  return await startServer({
    ...{ program, etcdUrl, directory },
    // `/readyz` never succeeds: it waits for caches that only the other API server could fill.
    healthPath: '/healthz',
    flags: [
      '--authentication-skip-lookup',
      `--authentication-kubeconfig=${nowhere}`,
      `--authorization-kubeconfig=${nowhere}`,
      `--kubeconfig=${nowhere}`,
      '--enable-priority-and-fairness=false',
      `--disable-admission-plugins=${PLUGINS.join(',')}`,
    ],
  });
}
