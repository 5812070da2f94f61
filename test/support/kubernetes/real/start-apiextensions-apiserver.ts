import { join } from 'node:path';

import { writeKubeconfig } from '../write-kubeconfig.ts';
import { startServer, type RunningServer } from './start-server.ts';

/** Admission plugins that ask an API server for what this one does not have. */
const PLUGINS = [
  'NamespaceLifecycle',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
];

/** How to start one. */
export interface ApiextensionsApiserverOptions {
  readonly program: string;
  readonly etcdUrl: string;
  /** For its files. */
  readonly directory: string;
}

/**
 * Starts an apiextensions-apiserver: the part of kube-apiserver that serves what definitions define,
 * without everything else.
 */
export async function startApiextensionsApiserver(
  options: ApiextensionsApiserverOptions,
): Promise<RunningServer> {
  const { program, etcdUrl, directory } = options;
  // It wants to delegate to an API server, and never has to: the administrator needs no permission.
  const nowhere = join(directory, 'nowhere.kubeconfig');
  await writeKubeconfig(nowhere, { server: 'https://127.0.0.1:1' }, { token: 'none' });
  return await startServer({
    ...{ program, etcdUrl, directory },
    // Never at `/readyz`: that waits for caches of what only the API server has that it delegates to.
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
