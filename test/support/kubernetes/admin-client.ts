import type { RequestOptions } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

import { KubeConfig } from '@kubernetes/client-node';
import { Pool } from 'undici';
import { parseAllDocuments } from 'yaml';

import { ApiStatusError } from './api-status-error.ts';
import type { AdminClient } from './cluster.ts';

const CONNECTIONS = 8;
const FIELD_MANAGER = 'test';
const MAX_ATTEMPTS = 50;
const BETWEEN_ATTEMPTS_MS = 100;

/**
 * Makes a client of the current context of a kubeconfig file. If `through` is given, every request
 * passes through it. Disposing of the client ends its connections.
 */
export async function createAdminClient(
  kubeconfigPath: string,
  through: (request: AdminClient['request']) => AdminClient['request'] = (request) => request,
): Promise<AdminClient & AsyncDisposable> {
  const { server, headers, pool } = await connect(kubeconfigPath);
  const kinds = new Map<string, ResourcePlace>();

  const request = through(async (method, path, body, extraHeaders = {}) => {
    for (let attempt = 1; ; attempt += 1) {
      const response = await pool.request({
        method,
        path: `${server.pathname.replace(/\/$/, '')}${path}`,
        headers: { accept: 'application/json', ...headers, ...contentType(body), ...extraHeaders },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const answer = parsed(await response.body.text());
      if (response.statusCode < 300) return answer;
      const error = new ApiStatusError(response.statusCode, answer);
      if (!isOpeningStorage(error) || attempt === MAX_ATTEMPTS) throw error;
      await sleep(BETWEEN_ATTEMPTS_MS);
    }
  });

  const placeOf = async (apiVersion: string, kind: string): Promise<ResourcePlace> => {
    const key = `${apiVersion} ${kind}`;
    const known = kinds.get(key) ?? (await findPlace(request, apiVersion, kind));
    kinds.set(key, known);
    return known;
  };

  return {
    request,
    apply: async (manifests) => {
      for (const document of parseAllDocuments(manifests)) {
        // A document that is not a manifest fails at a missing member.
        const manifest = document.toJS() as Manifest | null;
        if (manifest === null) continue;
        const place = await placeOf(manifest.apiVersion, manifest.kind);
        await request('PATCH', applyPath(place, manifest), manifest, {
          'content-type': 'application/apply-patch+yaml',
        });
      }
    },
    [Symbol.asyncDispose]: async () => await pool.destroy(),
  };
}

/** For a moment after a definition is made or changed, an API server refuses every request for its resources. */
function isOpeningStorage({ code, message }: ApiStatusError): boolean {
  return code === 429 && message.includes('storage is (re)initializing');
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** The collection of the objects of a kind. */
interface ResourcePlace {
  readonly root: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** Connects to the cluster of a kubeconfig file, as its user. */
export async function connect(kubeconfigPath: string): Promise<{
  readonly server: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly pool: Pool;
}> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfigPath);
  const server = config.getCurrentCluster()?.server;
  if (server === undefined) throw new Error(`${kubeconfigPath} names no cluster`);
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const { ca, cert, key, servername, rejectUnauthorized } = options;
  const pool = new Pool(new URL(server).origin, {
    connections: CONNECTIONS,
    connect: {
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(servername !== undefined && { servername }),
      ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
    },
  });
  // The client library sets single values only. In lower case, a request can override them.
  const headers = Object.entries((options.headers ?? {}) as Record<string, string>).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  return { server: new URL(server), headers: Object.fromEntries(headers), pool };
}

function contentType(body: unknown): Readonly<Record<string, string>> {
  return body === undefined ? {} : { 'content-type': 'application/json' };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function findPlace(
  request: AdminClient['request'],
  apiVersion: string,
  kind: string,
): Promise<ResourcePlace> {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  // An `APIResourceList`, which every API server sends.
  const { resources } = (await request('GET', root)) as {
    readonly resources: readonly {
      readonly name: string;
      readonly kind: string;
      readonly namespaced: boolean;
    }[];
  };
  const resource = resources.find(({ name, kind: its }) => its === kind && !name.includes('/'));
  if (resource === undefined) throw new Error(`the API server has no ${kind} in ${apiVersion}`);
  return { root, plural: resource.name, namespaced: resource.namespaced };
}

function applyPath({ root, plural, namespaced }: ResourcePlace, { metadata }: Manifest): string {
  const namespace = `/namespaces/${encodeURIComponent(metadata.namespace ?? 'default')}`;
  const name = encodeURIComponent(metadata.name);
  const query = `fieldManager=${FIELD_MANAGER}&force=true`;
  return `${root}${namespaced ? namespace : ''}/${plural}/${name}?${query}`;
}
