import { writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';

import { freePort } from '../../free-port.ts';
import { createThrowawayAuthority, type IssuedCertificate } from '../../throwaway-authority.ts';
import { writeKubeconfig } from '../write-kubeconfig.ts';
import { ServerProcess } from './server-process.ts';

/** A running API server. */
export interface RunningServer extends AsyncDisposable {
  /** Path of a kubeconfig whose user may do everything. */
  readonly adminKubeconfig: string;
}

/** The differences between kinds of API servers. */
export interface ServerOptions {
  readonly program: string;
  readonly etcdUrl: string;
  /** Directory for the files of this server alone. */
  readonly directory: string;
  /** Path that answers 200 when the server is ready. */
  readonly healthPath: string;
  readonly flags: readonly string[];
}

/** Starts an API server on a port of its own on loopback, and waits until it is ready. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { program, etcdUrl, directory, healthPath, flags } = options;
  const port = await freePort();
  const authority = createThrowawayAuthority();
  const admin = authority.issueClient('test-admin', 'system:masters');
  const files = {
    ca: join(directory, 'ca.crt'),
    serverCertificate: join(directory, 'tls.crt'),
    serverKey: join(directory, 'tls.key'),
  };
  const server = authority.issue(['127.0.0.1']);
  await writeFile(files.ca, authority.ca);
  await writeFile(files.serverCertificate, server.cert);
  await writeFile(files.serverKey, server.key, { mode: 0o600 });

  const process = await ServerProcess.start(
    program,
    [
      '--bind-address=127.0.0.1',
      `--secure-port=${String(port)}`,
      `--cert-dir=${directory}`,
      `--etcd-servers=${etcdUrl}`,
      `--tls-cert-file=${files.serverCertificate}`,
      `--tls-private-key-file=${files.serverKey}`,
      `--client-ca-file=${files.ca}`,
      ...flags,
    ],
    async () => await isHealthy({ port, path: healthPath, ca: authority.ca, ...admin }),
  );
  const adminKubeconfig = join(directory, 'admin.kubeconfig');
  await writeKubeconfig(
    adminKubeconfig,
    {
      server: `https://127.0.0.1:${String(port)}`,
      'certificate-authority-data': base64(authority.ca),
    },
    { 'client-certificate-data': base64(admin.cert), 'client-key-data': base64(admin.key) },
  );
  return {
    adminKubeconfig,
    [Symbol.asyncDispose]: async () => await process[Symbol.asyncDispose](),
  };
}

async function isHealthy(
  target: IssuedCertificate & { readonly port: number; readonly path: string; readonly ca: string },
): Promise<boolean> {
  return await new Promise((resolve) => {
    request({ host: '127.0.0.1', ...target }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    })
      .on('error', () => resolve(false))
      .end();
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
