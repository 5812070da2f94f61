import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';

import type { Environment } from '../../shared/runtime/environment.ts';
import type { ClusterAccess } from './cluster-access.ts';

/** Where a pod finds its ServiceAccount. */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

const FILES = { token: 'token', authorities: 'ca.crt', namespace: 'namespace' } as const;

/**
 * Access as the ServiceAccount of this pod; null if this process is not in a pod. The environment names
 * the API server, and `directory` has the token, the authorities and the namespace.
 */
export function podAccess(
  environment: Environment,
  directory = SERVICE_ACCOUNT,
): ClusterAccess | null {
  const at = (name: keyof typeof FILES): string => join(directory, FILES[name]);
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  if (host === undefined || port === undefined || !existsSync(at('token'))) return null;
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    proxy: undefined,
    namespace: readNamespace(at('namespace')),
    credentials: async () => {
      const [token, ca] = await Promise.all([
        readFile(at('token'), 'utf8'),
        readFile(at('authorities')),
      ]);
      return { tls: { ca }, headers: { authorization: `Bearer ${token.trim()}` } };
    },
  };
}

function readNamespace(file: string): string | undefined {
  const namespace = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  return namespace === '' ? undefined : namespace;
}
