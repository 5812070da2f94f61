import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { startServer, type RunningServer } from './start-server.ts';

export interface KubeApiserverOptions {
  readonly program: string;
  readonly etcdUrl: string;
  /** Directory for its files. */
  readonly directory: string;
}

/** Starts a kube-apiserver that authorizes by RBAC and issues tokens of ServiceAccounts. */
export async function startKubeApiserver(options: KubeApiserverOptions): Promise<RunningServer> {
  const { program, etcdUrl, directory } = options;
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
    ],
  });
}

/** The key that tokens are signed with, and verified with: the public half is in it. */
async function writeTokenKey(directory: string): Promise<string> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const path = join(directory, 'tokens.key');
  // In PKCS #8 the server would not find the public key.
  await writeFile(path, privateKey.export({ type: 'sec1', format: 'pem' }), { mode: 0o600 });
  return path;
}
