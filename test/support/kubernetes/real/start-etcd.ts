import { join } from 'node:path';

import { freePort } from '../../free-port.ts';
import { ServerProcess } from './server-process.ts';

/** An etcd for one API server, on loopback. */
export interface Etcd extends AsyncDisposable {
  readonly url: string;
}

/** Starts an etcd that keeps its data below `directory`. */
export async function startEtcd(program: string, directory: string): Promise<Etcd> {
  const url = `http://127.0.0.1:${String(await freePort())}`;
  const peerUrl = `http://127.0.0.1:${String(await freePort())}`;
  const server = await ServerProcess.start(
    program,
    [
      `--data-dir=${join(directory, 'etcd')}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=default=${peerUrl}`,
      // A single member elects itself; the default makes it wait a second for others.
      '--heartbeat-interval=20',
      '--election-timeout=200',
    ],
    async () => await isHealthy(url),
  );
  return { url, [Symbol.asyncDispose]: async () => await server[Symbol.asyncDispose]() };
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health`);
    // Version 3.4 writes "true" as text, and so do later ones.
    return response.ok && (await response.text()).includes('"true"');
  } catch {
    return false;
  }
}
