import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { startServer, type RunningServer } from './start-server.ts';

/** The first version of Kubernetes 1 with discovery.k8s.io/v1. */
const ENDPOINT_SLICES_SINCE = 21;

export interface KubeApiserverOptions {
  readonly program: string;
  /** Minor version of Kubernetes 1. */
  readonly minorVersion: number;
  readonly etcdUrl: string;
  /** Directory for its files. */
  readonly directory: string;
}

/** Starts a kube-apiserver that authorizes by RBAC and issues tokens of ServiceAccounts. */
export async function startKubeApiserver(options: KubeApiserverOptions): Promise<RunningServer> {
  const { program, minorVersion, etcdUrl, directory } = options;
  const tokenKey = await writeTokenKey(directory);
  return await startServer({
    ...{ program, etcdUrl, directory },
    healthPath: '/readyz',
    flags: [
      `--service-account-key-file=${tokenKey}`,
      `--service-account-signing-key-file=${tokenKey}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      '--service-cluster-ip-range=10.0.0.0/24',
      '--authorization-mode=RBAC',
      // This plugin waits for a controller to create the ServiceAccount of a pod.
      '--disable-admission-plugins=ServiceAccount',
      ...(minorVersion < ENDPOINT_SLICES_SINCE ? WITHOUT_BETA_APIS : []),
    ],
  });
}

/**
 * A group that the server has hides a definition of another version of it, so v1beta1 of
 * discovery.k8s.io is disabled. The other betas are disabled because the server starts faster.
 */
const WITHOUT_BETA_APIS = [
  '--runtime-config=api/beta=false',
  '--enable-priority-and-fairness=false',
];

/** The key that tokens are signed with, and verified with: the public half is in it. */
async function writeTokenKey(directory: string): Promise<string> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const path = join(directory, 'tokens.key');
  // In PKCS #8 the server would not find the public key.
  await writeFile(path, privateKey.export({ type: 'sec1', format: 'pem' }), { mode: 0o600 });
  return path;
}
